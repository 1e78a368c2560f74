#include "step_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kFewestPairs = 5;
constexpr std::size_t kFarthestNeighbour = 8;

RunStep combine(std::span<const store::StepRecord> of_one_step) {
  RunStep step;
  step.step = of_one_step.front().step;
  for (const store::StepRecord& record : of_one_step) {
    const auto duration_ns = static_cast<double>(record.duration_ns);
    step.probes_on = step.probes_on && record.probes_on;
    step.slowest_ns = std::max(step.slowest_ns, duration_ns);
    step.mean_ns += duration_ns / static_cast<double>(of_one_step.size());
  }
  return step;
}

/// The nearest probe-on step in the direction of `stride` (+1 or -1).
std::optional<double> neighbour_ns(std::span<const RunStep> steps, std::size_t off, std::ptrdiff_t stride) {
  auto at = static_cast<std::ptrdiff_t>(off);
  for (std::size_t distance = 1; distance <= kFarthestNeighbour; ++distance) {
    at += stride;
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(steps.size())) break;
    const RunStep& step = steps[static_cast<std::size_t>(at)];
    if (step.probes_on) return step.mean_ns;
  }
  return std::nullopt;
}

}  // namespace

std::vector<RunStep> complete_steps(std::span<const store::StepRecord> records, std::uint32_t first_step,
                                    std::size_t ranks) {
  std::vector<RunStep> steps;
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && records[end].step == records[begin].step) ++end;
    if (records[begin].step < first_step || end - begin != ranks) continue;
    steps.push_back(combine(records.subspan(begin, end - begin)));
  }
  return steps;
}

Measured<Estimate> probe_overhead_percent(std::span<const RunStep> steps) {
  std::vector<double> percents;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].probes_on || steps[i].mean_ns <= 0) continue;
    const std::optional<double> before_ns = neighbour_ns(steps, i, -1);
    const std::optional<double> after_ns = neighbour_ns(steps, i, +1);
    if (before_ns && after_ns)
      percents.push_back(((*before_ns + *after_ns) / 2 / steps[i].mean_ns - 1) * 100);
  }
  if (percents.empty()) return Measured<Estimate>::missing("no probe-off windows");
  if (percents.size() < kFewestPairs) {
    return Measured<Estimate>::missing(
        fmt::format("{} probe-off step(s) with probe-on neighbours: {} or more are needed", percents.size(),
                    kFewestPairs));
  }
  Estimate estimate = median_of_steps(percents).value();
  estimate.interval.method =
      "probe-off steps paired with their probe-on neighbours; " + estimate.interval.method;
  return estimate;
}

store::StepPartition divide_parts(const store::StepPartition& parts, std::int64_t by) {
  store::StepPartition quotient;
  std::array<std::size_t, store::kStepPartCount> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t part : order) quotient.ns[part] = parts.ns[part] / by;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts.ns[a] % by > parts.ns[b] % by; });
  const std::int64_t total_ns = parts.total_ns();
  const std::int64_t wanted_ns = total_ns / by + (total_ns % by >= by - by / 2 ? 1 : 0);
  std::int64_t short_by = wanted_ns - quotient.total_ns();
  for (std::size_t i = 0; short_by > 0; ++i, --short_by) ++quotient.ns[order[i]];
  return quotient;
}

}  // namespace ddbench::analyzer
