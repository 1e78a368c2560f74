#include "analyzer/finalize/reported_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/bounded.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

double value_of(const std::vector<std::pair<std::uint32_t, double>>& values, std::uint32_t step) {
  const auto found =
      std::lower_bound(values.begin(), values.end(), step,
                       [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  return found != values.end() && found->first == step ? found->second
                                                       : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

ReportedValues::ReportedValues(const store::RunStore& store, const store::RunId& run, int rank, StepRange range)
    : loss_(store.step_values(run, rank, "loss", range.first, range.last)),
      main_wait_ns_(store.step_values(run, rank, kCpuWaitMain, range.first, range.last)),
      communication_wait_ns_(store.step_values(run, rank, kCpuWaitCommunication, range.first, range.last)) {}

double ReportedValues::loss(std::uint32_t step) const {
  return value_of(loss_, step);
}

std::optional<CpuWait> ReportedValues::cpu_wait(std::uint32_t step) const {
  const double main_ns = value_of(main_wait_ns_, step);
  const double communication_ns = value_of(communication_wait_ns_, step);
  if (!std::isfinite(main_ns) || !std::isfinite(communication_ns)) return std::nullopt;
  return CpuWait{bounded(main_ns, 0, kLatest_ns), bounded(communication_ns, 0, kLatest_ns)};
}

}  // namespace ddbench::analyzer
