#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/attribution/step_range.h"
#include "core/run_case/records.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// Collects the kernel rows of a run: all spans except steps and collectives, which have rows of their own.
/// Reduced steps (analyzer::summarize_step) do not count.
class KernelTotals {
 public:
  /// Adds those spans that are marked with a step of `range`.
  void add(std::span<const Span> spans, std::span<const std::string> names, const StepRange& range);
  void add(const KernelTotals& other);
  std::vector<store::KernelRecord> records() const;  ///< longest total first
  /// Over ranks.
  std::uint64_t reduced_steps() const noexcept { return reduced_steps_; }

 private:
  std::map<std::pair<std::string, SpanKind>, store::KernelRecord> totals_;
  std::uint64_t reduced_steps_ = 0;
};

}  // namespace ddbench::analyzer
