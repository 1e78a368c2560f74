#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/predict/predict_run.h"

namespace ddbench::analyzer {

/// One change to a run, and what a replay says that it would gain.
struct Advice {
  std::string name;      ///< stable: "bucket", "compression", "bandwidth", "latency", "stragglers", "data_wait", "host",
                         ///< "batch", "accumulation", "overlap"
  std::string change;    ///< in words: "buckets of 25 MB (now 1 MB)"
  std::string assumption;  ///< what the gain takes for granted, a sentence; may be empty
  Estimate gain;         ///< of throughput: 0.05 is 5% more samples/s
  double step_ns = 0;    ///< predicted, beside that of the replay without the change
};

/// A size of gradient buckets, and the step that a replay with it takes.
struct TriedBucket {
  double bytes = 0;
  double step_ns = 0;
};

struct AdviceReport {
  std::string run;
  Estimate step_ns;              ///< the replay of the run as it was
  double waited_ns = 0;          ///< of it: main lanes waited for collectives
  std::vector<Advice> advice;    ///< largest gain first; those whose interval holds no gain are left out
  /// Sizes of buckets that were tried and the run's own, by size; of those as fast, the smallest is the best one. Empty
  /// where the run has no buckets or other sizes are not known.
  std::vector<TriedBucket> buckets;
  std::vector<std::string> no_gain;  ///< changes that were tried and left out
  std::vector<std::string> not_known;  ///< changes that could not be tried, with the reason
  std::vector<std::string> notes;
};

/// The fastest of the tried sizes of buckets; null where there is none.
const TriedBucket* best_bucket(const AdviceReport& report);

/// Replays the recording with one change at a time. Steps are drawn alike for each, so that gains are of pairs; a gain's
/// 95% interval adds 15% of itself for the model, and the error of the costs of collectives that change. `costs` should know other sizes of collectives than the run's own for
/// changes of buckets and bytes.
Measured<AdviceReport> advise(const StepRecording& recording, const CollectiveCosts& costs, const store::RunRecord& run);

/// What reports say of a stored run: advice from at most `most_steps` of its steps, with the costs that its own
/// collectives tell. Missing, with the reason, for runs that cannot be replayed and those whose figures must not be used.
Measured<AdviceReport> advice_of(const store::RunStore& store, const store::RunRecord& run, std::size_t most_steps = 64);

}  // namespace ddbench::analyzer
