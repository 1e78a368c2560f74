#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/live/live_verdict.h"

namespace ddbench::analyzer {

/// What a rank's own thread does in a mean step, ns.
struct OwnTimeOfStep {
  bool compute_known = false;
  double compute = 0;  ///< without CPU wait
  double cpu_wait = 0;
  double data = 0;
};

/// Between two sums; nothing where no step lies between them.
std::optional<OwnTimeOfStep> own_time_of_step(const LiveOwnTime& before, const LiveOwnTime& after);

/// "; it waits for its data loader: 3.1 ms a step longer than the others". `excess_ns`: by how much the named ranks come later, of a step.
/// The cause has 60% of it; empty where none has, or `others` is empty. What is none of the parts is spent between operators, where compute is known.
std::string why_in_words(const std::vector<OwnTimeOfStep>& named, const std::vector<OwnTimeOfStep>& others, double excess_ns);

}  // namespace ddbench::analyzer
