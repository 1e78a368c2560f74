#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/attribution/step_range.h"
#include "analyzer/store/rows/run_store.h"
#include "core/cpu_wait.h"

namespace ddbench::analyzer {

/// The numbers that a rank recorded with the steps of a range.
class ReportedValues {
 public:
  ReportedValues(const store::RunStore& store, const store::RunId& run, int rank, StepRange range);

  double loss(std::uint32_t step) const;  ///< NaN when the rank recorded no loss for the step
  /// Nothing where it was not measured.
  std::optional<CpuWait> cpu_wait(std::uint32_t step) const;

 private:
  using StepValues = std::vector<std::pair<std::uint32_t, double>>;

  StepValues loss_;
  StepValues main_wait_ns_;
  StepValues communication_wait_ns_;
};

}  // namespace ddbench::analyzer
