#include "analyzer/run/step_series.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

namespace ddbench::analyzer {
namespace {

/// The probe-on step that the probe-off step at `off` is compared with: the other one of the third and the
/// fourth of its four, which of the two is off being drawn.
std::optional<double> partner_ns(std::span<const RunStep> steps, std::size_t off) {
  const bool is_third = (steps[off].step - steps.front().step) % 4 == 2;
  if (is_third ? off + 1 == steps.size() : off == 0) return std::nullopt;
  const RunStep& partner = steps[is_third ? off + 1 : off - 1];
  const bool is_beside = partner.step + (is_third ? 0 : 1) == steps[off].step + (is_third ? 1 : 0);
  if (!is_beside || !partner.probes_on || partner.mean_ns <= 0) return std::nullopt;
  return partner.mean_ns;
}

}  // namespace

Measured<Estimate> probe_overhead_percent(std::span<const RunStep> steps) {
  std::vector<double> differences;
  std::size_t probe_off_steps = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].probes_on || steps[i].mean_ns <= 0) continue;
    ++probe_off_steps;
    if (const std::optional<double> on_ns = partner_ns(steps, i)) differences.push_back(std::log(*on_ns / steps[i].mean_ns));
  }
  if (probe_off_steps == 0) return Measured<Estimate>::missing("no probe-off windows");
  Measured<Estimate> estimate = signed_rank_estimate(differences);
  if (!estimate) {
    return Measured<Estimate>::missing(
        fmt::format("{} probe-off step(s) with probe-on neighbours: {} or more are needed",
                    differences.size(), kFewestSignedRanks));
  }
  const auto percent = [](double log_ratio) { return 100 * std::expm1(log_ratio); };
  const ConfidenceInterval& interval = estimate->interval;
  return Estimate{
      percent(estimate->value),
      {percent(interval.low), percent(interval.high), interval.level,
       "probe-off steps paired with a probe-on neighbour, differences of logarithms; " + interval.method}};
}

}  // namespace ddbench::analyzer
