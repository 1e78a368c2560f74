#include "core/span_limits.h"
#include "harness/launch/steps/stopping_rule.h"

#include <algorithm>

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kLongestLead = 1s;
constexpr std::chrono::nanoseconds kShortestLead = 20ms;

}  // namespace

StoppingRule::StoppingRule(double margin, std::chrono::nanoseconds most_time)
    : margin_(margin), most_time_(most_time) {}

std::chrono::nanoseconds StoppingRule::lead() const noexcept {
  return std::clamp(most_time_ / 8, kShortestLead, kLongestLead);
}

std::optional<StopReason> StoppingRule::decide(std::chrono::nanoseconds measured) {
  if (series_.steps() >= kFewestSteps && series_.time_ns() >= next_look_ns_) {
    next_look_ns_ = add_ns(series_.time_ns(), series_.time_ns() / 10);
    if (is_enough()) return StopReason::kMargin;
  }
  if (measured + lead() >= most_time_) return StopReason::kMaxTime;
  return std::nullopt;
}

bool StoppingRule::is_enough() const {
  const Measured<double> half_width = series_.half_width();
  if (!half_width || *half_width > margin_) return false;
  const Measured<double> probes = series_.probe_half_width();
  return probes && *probes <= kProbeMargin;
}

}  // namespace ddbench::launch
