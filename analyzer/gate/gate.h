#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/comparison/comparability.h"
#include "analyzer/gate/gate_policy.h"
#include "analyzer/gate/run_sessions.h"
#include "analyzer/run/run_measures.h"
#include "analyzer/run/run_reference.h"

namespace ddbench::analyzer {

enum class GateOutcome { kPass, kRegression, kInconclusive };
std::string_view to_string(GateOutcome outcome) noexcept;  ///< "pass", "regression", "inconclusive"
/// 0, 3 (kRegression) and 4 (kNoVerdict): the exit codes of `ddbench gate`.
int exit_code_of(GateOutcome outcome) noexcept;

/// One side of a comparison, measured.
struct GateSide {
  std::string reference;  ///< as the user gave it
  std::string meaning;    ///< in words: "named baseline main, version 3"
  std::string missing;    ///< why there are no runs; empty when there are
  std::vector<RunMeasures> runs;
  /// Earlier runs of the same case (a named baseline's earlier versions): they show how far its sessions
  /// scatter.
  std::vector<RunMeasures> earlier;
};

/// Reads the runs for a reference. Throws as resolve_reference.
GateSide gate_side(const store::RunStore& store, std::string_view reference);

/// The verdict on one metric. Changes are candidate / baseline - 1 of the metric itself: a throughput that
/// fell from 4,798 to 3,439 samples/s changed by -0.283.
struct MetricVerdict {
  RunMetric metric = RunMetric::kStepTime;
  GateOutcome outcome = GateOutcome::kInconclusive;
  std::string reason;  ///< one sentence: why this outcome
  double threshold = 0;

  struct Estimate {
    double baseline = 0;  ///< geometric mean over runs (arithmetic where a run has 0), in the metric's unit
    double candidate = 0;
    double change = 0;
    ConfidenceInterval change_interval;  ///< two-sided
    double least_change = 0;             ///< one-sided bound towards "better", at the policy's confidence
    /// The smallest change for the worse that such runs show as a regression in 80 of 100 comparisons
    /// (minimum detectable effect): the spread of the runs, the threshold and the policy's confidence decide
    /// it.
    double detectable_change = 0;
    double p_value = 1;  ///< one-sided, of "not worse", before Holm's correction
  };
  std::optional<Estimate> estimate;
  bool improved = false;  ///< passes, and is better by more than noise and threshold
};

/// The change of a part of the step between the sides; ns of the step time, averaged over runs.
struct PartChange {
  store::StepPart part = store::StepPart::kIdle;
  double baseline_ns = 0;
  double candidate_ns = 0;
  Measured<ConfidenceInterval> change_interval =
      Measured<ConfidenceInterval>::missing("not known");  ///< over runs
  double change_ns() const { return candidate_ns - baseline_ns; }
};

/// The change of one collective (usually a gradient bucket); transfer time of one call, ns.
struct CollectiveChange {
  std::string function;
  int bucket = -1;
  std::uint64_t bytes = 0;
  std::string communicator;  ///< CollectiveSummary::communicator: empty for that of all ranks
  double baseline_ns = 0;
  double candidate_ns = 0;
  double calls_per_step = 0;  ///< of the candidate
  Measured<ConfidenceInterval> change_interval = Measured<ConfidenceInterval>::missing("not known");
  double change_ns() const { return candidate_ns - baseline_ns; }
};

struct GateVerdict {
  GateOutcome outcome = GateOutcome::kInconclusive;
  std::string headline;              ///< one sentence
  std::vector<std::string> reasons;  ///< why there is no verdict; empty otherwise
  GateSide baseline;
  GateSide candidate;
  SidesInTime in_time = SidesInTime::kSessions;
  GatePolicy policy;
  std::vector<MetricVerdict> metrics;
  std::vector<FieldDifference> compared;  ///< intended differences of the sides
  std::vector<PartChange> parts;          ///< largest change first
  std::vector<CollectiveChange> collectives;
  std::vector<std::string>
      explanation;                 ///< sentences: which part and which bucket moved; only with a regression
  std::vector<std::string> notes;  ///< caveats
};

/// The verdict (issue: fail on a real regression and never on noise):
///  - `inconclusive` at once when a side has no runs, fewer than policy.min_pairs, runs that failed, are
///  invalid or still run,
///    or when the sides are not comparable (compare_sides) or share a run;
///  - a metric is a `regression` when its one-sided bound at policy.confidence, Holm-corrected over the
///  metrics asked for,
///    is beyond "not worse" and the estimate is worse by more than its threshold (a throughput falls by that
///    share);
///  - it passes when a slowdown of the threshold can be excluded (the two-sided 95% interval ends below it),
///  or when that
///    interval is no wider than the threshold and the estimate is below it;
///  - otherwise, and when a run did not measure the metric, it is inconclusive.
/// One regression makes the verdict a regression; else one inconclusive metric makes it inconclusive.
/// The unit is the run (log ratios; paired_log_ratio, sequence_log_ratio or session_log_ratio by how the runs
/// lie in time).
GateVerdict judge(GateSide baseline, GateSide candidate, const GatePolicy& policy);

}  // namespace ddbench::analyzer
