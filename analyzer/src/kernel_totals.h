#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ddbench/record/span.h"
#include "ddbench/store/records.h"
#include "step_range.h"

namespace ddbench::analyzer {

/// Gathers the kernel rows of a run: everything but steps and collectives, which have rows of their own.
class KernelTotals {
 public:
  /// Adds those spans that are marked with a step of `range`.
  void add(std::span<const Span> spans, std::span<const std::string> names, const StepRange& range);
  std::vector<store::KernelRecord> records() const;  ///< longest total first

 private:
  std::map<std::pair<std::string, SpanKind>, store::KernelRecord> totals_;
};

}  // namespace ddbench::analyzer
