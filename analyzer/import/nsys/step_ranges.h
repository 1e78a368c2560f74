#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/trace/rank_builder.h"

namespace ddbench::imports {

/// The NVTX ranges that mark the steps of one process.
class StepRanges {
 public:
  /// `name` as of read_nsys_export.
  explicit StepRanges(std::string name) : name_(std::move(name)) {}

  /// Whether a range with this text marks a step: the text is the name, optionally followed by a number.
  bool marks_step(std::string_view text) const;
  void add(const TraceEvent& event);
  /// Adds the steps to the builder: numbered as in their texts if all numbers differ, else in their order. Of
  /// nested ranges the outermost counts. Returns the number of steps.
  std::size_t add_to(RankBuilder& builder) const;

 private:
  struct Range {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t thread = 0;
    std::optional<std::uint64_t> number;
  };

  std::optional<std::string_view> number_in(std::string_view text) const;

  std::string name_;
  std::vector<Range> ranges_;
};

}  // namespace ddbench::imports
