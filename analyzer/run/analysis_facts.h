#pragma once

#include <cstdint>
#include <string>

#include "core/number.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

// Keys of the facts that finalize_run stores in Environment::facts.

/// Measured-step collectives that could not be joined, and spans with impossible times: decimal counts,
/// absent when 0.
inline constexpr const char* kFactIncompleteCollectives = "analysis.incomplete_collectives";
inline constexpr const char* kFactDamagedSpans = "analysis.damaged_spans";
/// Why the size of a communicator is not known: absent when all are, and in runs that were stored before they were recorded.
inline constexpr const char* kFactCommunicatorsUnknown = "analysis.communicators_unknown";
/// Seconds of the run in which collectives contradicted the readings of the clocks: absent when 0.
inline constexpr const char* kFactClockContradictions = "analysis.clock_contradictions";
/// Measured steps, counted over ranks, of which the ranks sent reduced spans (analyzer::reduce_step): they
/// have their part in every figure but the kernel rows. Absent when 0.
inline constexpr const char* kFactReducedSteps = "analysis.reduced_steps";
/// Steps, warm-up included, whose gradients were not finite so that nothing was updated: absent when 0. And
/// the loss scale of the last step: absent without loss scaling.
inline constexpr const char* kFactSkippedUpdates = "training.skipped_updates";
inline constexpr const char* kFactLossScale = "training.loss_scale";
/// On GPUs: "captured from step 4", "off: asked for", "off: <why>".
inline constexpr const char* kFactCudaGraph = "training.cuda_graph";
/// Of which kernels are missing: absent when 0.
inline constexpr const char* kFactDroppedCuptiRecords = "cupti.dropped_records";
/// Why no kernels were recorded: absent when they were, or without a GPU.
inline constexpr const char* kFactCuptiUnavailable = "cupti.unavailable";

/// "measured" where every rank told how long its threads waited for a core in each step. Why a rank could
/// not, where one could not.
inline constexpr const char* kFactCpuWait = "analysis.cpu_wait";
inline constexpr const char* kFactCpuWaitUnavailable = "cpu_wait.unavailable";
/// What compute beside communication takes longer than without, in percent: "12.3 8.0 16.9", the estimate and
/// its interval of 95 %, or the reason why it is not known.
inline constexpr const char* kFactComputeSlowdown = "analysis.compute_slowdown_percent";

/// 0 when the fact is absent or no number.
inline std::int64_t numeric_fact(const store::RunRecord& run, const std::string& name) {
  const auto found = run.environment.facts.find(name);
  return found == run.environment.facts.end() ? 0 : number_from<std::int64_t>(found->second).value_or(0);
}

}  // namespace ddbench::analyzer
