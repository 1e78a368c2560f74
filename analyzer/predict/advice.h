#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/predict/predict_run.h"

namespace ddbench::analyzer {

/// One change to a run, and its gain according to a replay.
struct Advice {
  std::string name;      ///< stable: "bucket", "compression", "bandwidth", "latency", "stragglers", "data_wait", "host",
                         ///< "batch", "accumulation", "overlap"
  std::string change;    ///< in words: "buckets of 25 MB (now 1 MB)"
  std::string assumption;  ///< the gain's assumption, one sentence; may be empty
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
  double waited_ns = 0;          ///< of which main lanes waited for collectives
  std::vector<Advice> advice;    ///< largest gain first; those whose interval holds no gain are left out
  /// The tried bucket sizes and the run's own, by size; among equally fast ones the smallest is the best.
  /// Empty if the run has no buckets or the costs of other sizes are not known.
  std::vector<TriedBucket> buckets;
  std::vector<std::string> no_gain;  ///< changes that were tried and left out
  std::vector<std::string> not_known;  ///< changes that could not be tried, with the reason
  std::vector<std::string> notes;
};

/// The fastest tried bucket size; null if there is none.
const TriedBucket* best_bucket(const AdviceReport& report);

/// Replays the recording with one change at a time. The same steps are drawn for each change, so that gains
/// are paired; a gain's 95% interval adds 15% of itself for the model, and the error of the costs of
/// collectives that change. For changes of buckets and bytes, `costs` should cover other collective sizes
/// than the run's own.
Measured<AdviceReport> advise(const StepRecording& recording, const CollectiveCosts& costs, const store::RunRecord& run);

/// Advice for reports of a stored run: from at most `most_steps` of its steps, with the costs measured by its
/// own collectives. Missing, with the reason, for runs that cannot be replayed and for runs whose figures
/// must not be used.
Measured<AdviceReport> advice_of(const store::RunStore& store, const store::RunRecord& run, std::size_t most_steps = 64);

}  // namespace ddbench::analyzer
