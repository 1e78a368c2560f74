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

/// The difference of two sums; nothing if no step lies between them.
std::optional<OwnTimeOfStep> own_time_of_step(const LiveOwnTime& before, const LiveOwnTime& after);

/// "; it waits for its data loader: 3.1 ms a step longer than the others". `excess_ns`: by how much the named
/// ranks arrive later, per step. The named cause has 60% of it; empty if none does, or if `others` is empty.
/// If compute is known, time in none of the parts was spent between operators.
std::string why_in_words(const std::vector<OwnTimeOfStep>& named, const std::vector<OwnTimeOfStep>& others, double excess_ns);

}  // namespace ddbench::analyzer
