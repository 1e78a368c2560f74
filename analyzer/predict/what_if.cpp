#include "analyzer/predict/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/predict/rebucket.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

constexpr double kFirstBucketBytes = 1 << 20;

void require_positive(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{} is {}, but it must be above 0", what, value));
}

using Factors = std::array<double, kWorkKinds>;

double& of(Factors& factors, WorkKind kind) {
  return factors[static_cast<std::size_t>(kind)];
}

double pass_ns(const RankStep& step) {
  double sum = 0;
  for (const StepEvent& event : step.events) {
    if (event.action == StepAction::kWork && event.work == WorkKind::kPass) sum += event.ns;
  }
  return sum;
}

/// Mean time of a rank's work in a step, without the waits.
double work_ns(const StepRecording& recording, std::size_t rank) {
  double sum = 0;
  for (const RecordedStep& step : recording.steps) {
    for (const StepEvent& event : step.ranks[rank].events) sum += event.ns;
  }
  return sum / static_cast<double>(recording.steps.size());
}

/// The factor that shortens each rank's work to that of the median rank; 1 for ranks that are not slower.
/// With two ranks the faster one is the reference.
std::vector<double> straggler_factors(const StepRecording& recording) {
  const std::size_t ranks = recording.steps.front().ranks.size();
  std::vector<double> work;
  for (std::size_t rank = 0; rank < ranks; ++rank) work.push_back(work_ns(recording, rank));
  std::vector<double> sorted = work;
  std::sort(sorted.begin(), sorted.end());
  const double usual = sorted[(ranks - 1) / 2];
  std::vector<double> factors;
  for (const double own : work) factors.push_back(own > usual ? usual / own : 1);
  return factors;
}

void remove_stragglers(StepRecording& recording) {
  const std::vector<double> slower = straggler_factors(recording);
  for (RecordedStep& step : recording.steps) {
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      RankStep& own = step.ranks[rank];
      for (StepEvent& event : own.events) {
        event.ns *= slower[rank];
        event.fixed_ns *= slower[rank];
      }
      own.backward_ns *= slower[rank];
    }
  }
}

/// All but the last micro-batch's work comes before any gradient is ready. The host launches the operators of each, whatever
/// their sizes: its time up to the last of them recurs.
void accumulate(RankStep& step, int micro_batches) {
  const double before_ns = pass_ns(step);
  double earlier_ns = 0, earlier_host_ns = 0, host_ns = 0;
  for (StepEvent& event : step.events) {
    if (event.action != StepAction::kWork) continue;
    if (event.work == WorkKind::kHost) host_ns += event.ns;
    if (event.work != WorkKind::kPass) continue;
    event.ns = scaled_ns(event, 1.0 / micro_batches);
    earlier_ns += event.ns * (micro_batches - 1);
    earlier_host_ns = host_ns * (micro_batches - 1);
  }
  if (before_ns > 0) step.backward_ns *= pass_ns(step) / before_ns;
  step.events.insert(step.events.begin(), {{StepAction::kWork, WorkKind::kPass, 0, earlier_ns},
                                           {StepAction::kWork, WorkKind::kHost, 0, earlier_host_ns}});
}

/// Gradients of a bucket are narrowed before its collective, and all are widened after the last one.
void convert(RankStep& step, const std::vector<StepCollective>& collectives,
             const HalfConversion& conversion) {
  std::vector<StepEvent> events;
  std::size_t waited_for = 0;  // events up to the last wait for gradients
  std::vector<char> is_awaited(collectives.size());
  double bytes = 0;
  for (const StepEvent& event : step.events) {
    const bool gradients =
        event.action != StepAction::kWork && reduces_gradients(collectives[event.collective]);
    if (gradients && event.action == StepAction::kIssue) {
      const double own = collectives[event.collective].bytes;
      bytes += own;
      events.push_back({StepAction::kWork, WorkKind::kOptimizer, 0, own * conversion.narrow_ns});
    }
    events.push_back(event);
    if (!gradients || event.action != StepAction::kWait || is_awaited[event.collective] != 0) continue;
    is_awaited[event.collective] = 1;
    waited_for = events.size();
  }
  const std::size_t at = waited_for == 0 ? events.size() : waited_for;
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(at),
                {StepAction::kWork, WorkKind::kOptimizer, 0, bytes * conversion.widen_ns});
  step.events = std::move(events);
}

void halve_gradients(StepRecording& recording) {
  for (RecordedStep& step : recording.steps) {
    for (RankStep& rank : step.ranks) convert(rank, recording.collectives, *recording.conversion);
  }
  for (StepCollective& collective : recording.collectives) {
    if (reduces_gradients(collective)) collective.bytes /= 2;
  }
}

}  // namespace

std::string why_not_halved(const StepRecording& recording, const std::string& strategy,
                           const RunCase& run_case) {
  if (is_reference(run_case) && strategy != "ddp") return fmt::format("strategy {} has no hook", strategy);
  if (const auto hook = run_case.strategy_options.find("hook");
      hook != run_case.strategy_options.end() && hook->second != "none")
    return fmt::format("the run itself had the hook {}", hook->second);
  if (std::none_of(recording.collectives.begin(), recording.collectives.end(), reduces_gradients))
    return "no collective of the recorded steps is known to carry gradients";
  return recording.conversion ? "" : recording.conversion.reason();
}

std::string why_not_changed(const StepRecording& recording, const WhatIf& what_if) {
  if (what_if.bucket_bytes) {
    if (std::string why = why_too_many_buckets(recording, *what_if.bucket_bytes); !why.empty()) return why;
  }
  if (recording.strategy != "zero3" || (!what_if.bucket_bytes && what_if.accumulate == 1)) return {};
  return fmt::format(
      "zero3 gathers a bucket where its first layer needs it, and reduces it in each micro-batch: recorded steps do not show "
      "where {} would put that. Record a run with it",
      what_if.bucket_bytes ? "another size of buckets (--bucket-mb)" : "--accumulate");
}

std::vector<std::string> assumptions_of(const StepRecording& recording, const WhatIf& what_if) {
  if (!what_if.bucket_bytes) return {};
  std::vector<std::string> notes = rebucketed(recording, *what_if.bucket_bytes, kFirstBucketBytes).notes;
  notes.erase(notes.begin(), notes.begin() + static_cast<std::ptrdiff_t>(recording.notes.size()));
  return notes;
}

StepRecording changed(const StepRecording& recording, const WhatIf& what_if) {
  require_positive(what_if.batch_factor, "the batch");
  require_positive(what_if.compute_speed, "--compute-scale");
  require_positive(what_if.accumulate, "--accumulate");
  if (what_if.half_gradients && !recording.conversion)
    throw Error(ErrorCode::kBadInput, "gradients in half the bytes: " + recording.conversion.reason());
  if (const std::string why = why_not_changed(recording, what_if); !why.empty())
    throw Error(ErrorCode::kBadInput, why);
  StepRecording result =
      what_if.bucket_bytes ? rebucketed(recording, *what_if.bucket_bytes, kFirstBucketBytes) : recording;
  if (what_if.half_gradients) halve_gradients(result);
  result.samples_per_rank *= what_if.batch_factor;
  Factors factors{1, 1, 1, 1};
  of(factors, WorkKind::kPass) = what_if.batch_factor / what_if.compute_speed;
  of(factors, WorkKind::kOptimizer) = 1 / what_if.compute_speed;
  of(factors, WorkKind::kData) = what_if.without_data_wait ? 0 : what_if.batch_factor;
  of(factors, WorkKind::kHost) = what_if.without_host ? 0 : 1;
  for (RecordedStep& step : result.steps) {
    if (what_if.changes_collectives()) step.transfer_ns.clear();
    for (RankStep& own : step.ranks) {
      const double before_ns = pass_ns(own);
      for (StepEvent& event : own.events) event.ns = scaled_ns(event, of(factors, event.work));
      if (before_ns > 0) own.backward_ns *= pass_ns(own) / before_ns;
    }
  }
  if (what_if.without_stragglers) remove_stragglers(result);
  if (what_if.accumulate > 1) {
    for (RecordedStep& step : result.steps) {
      for (RankStep& own : step.ranks) accumulate(own, what_if.accumulate);
    }
  }
  if (what_if.ideal_overlap) overlap_ideally(result);
  return result;
}

}  // namespace ddbench::analyzer
