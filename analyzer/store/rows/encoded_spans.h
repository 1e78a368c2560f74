#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/span.h"

namespace ddbench::store {

/// A rank's spans of some steps, as the store keeps them: in chunks that may hold spans of other steps too.
class EncodedSpans {
 public:
  /// `run` and `rank` are for messages.
  EncodedSpans(std::filesystem::path file, std::string run, int rank, std::uint32_t first_step, std::uint32_t last_step)
      : file_(std::move(file)), run_(std::move(run)), rank_(rank), first_step_(first_step), last_step_(last_step) {}

  void add(std::int64_t position, std::vector<std::byte> chunk) { chunks_.emplace_back(position, std::move(chunk)); }

  /// The spans with first_step <= step <= last_step, in the order recorded. Throws Error{kRunFailed}, naming the chunk, for one that
  /// is damaged.
  std::vector<Span> decode() const;

 private:
  std::filesystem::path file_;
  std::string run_;
  int rank_;
  std::uint32_t first_step_;
  std::uint32_t last_step_;
  std::vector<std::pair<std::int64_t, std::vector<std::byte>>> chunks_;
};

}  // namespace ddbench::store
