#pragma once

#include <string_view>

namespace ddbench {

/// Scalars of a rank's last step, the direct account of what its probes take in a step with the probes on: the
/// spans, what one costs the thread that records it, the processor time of the thread that writes them, and
/// the readings of run-queue delay.
inline constexpr std::string_view kProbeSpansPerStep = "probe_cost.spans";
inline constexpr std::string_view kProbePush_ns = "probe_cost.push_ns";
inline constexpr std::string_view kProbeDrainPerStep_ns = "probe_cost.drain_ns";
inline constexpr std::string_view kProbeReadingsPerStep_ns = "probe_cost.readings_ns";

}  // namespace ddbench
