#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/predict/replay.h"
#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

inline StepEvent work(double ns, WorkKind kind = WorkKind::kPass) {
  return {StepAction::kWork, kind, 0, ns};
}
inline StepEvent issue(std::uint32_t collective) {
  return {StepAction::kIssue, WorkKind::kHost, collective, 0};
}
inline StepEvent wait(std::uint32_t collective) {
  return {StepAction::kWait, WorkKind::kHost, collective, 0};
}

/// Forward and a part of the backward pass, a bucket, the rest, a bucket, both waited for, optimizer.
inline RankStep two_buckets(double first, double second, double optimizer) {
  RankStep step;
  step.events = {work(first), issue(0), work(second), issue(1), wait(0), wait(1), work(optimizer, WorkKind::kOptimizer)};
  step.start_delay_ns = {0, 0};
  step.end_share = {1, 1};
  return step;
}

/// One step, with a bucket for each transfer.
inline StepRecording recording(ClusterShape shape, std::vector<RankStep> ranks, std::vector<double> transfer_ns) {
  StepRecording result;
  result.shape = shape;
  result.samples_per_rank = 8;
  for (std::size_t i = 0; i < transfer_ns.size(); ++i)
    result.collectives.push_back({"all_reduce", 1000.0 * static_cast<double>(i + 1), static_cast<int>(i)});
  result.steps.push_back({5, std::move(ranks), std::move(transfer_ns)});
  return result;
}

/// The time of a replay of the first step.
inline double step_of(const StepRecording& steps, ClusterShape shape = {1, 2}, std::vector<double> transfer_ns = {}) {
  ReplaySchedule schedule{1, std::vector<std::uint32_t>(static_cast<std::size_t>(shape.nodes), 0)};
  return replay(steps, shape, schedule, transfer_ns).step_ns;
}

}  // namespace ddbench::analyzer
