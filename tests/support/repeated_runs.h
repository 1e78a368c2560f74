#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/statistics/statistics.h"
#include "harness/experiment/sweep/repeat_rule.h"

namespace ddbench::test {

/// Cases that --repeat auto measured, and how many of their reported intervals hold the true step time.
struct RepeatedCases {
  int cases = 0;
  int held = 0;
  int early = 0;  ///< cases that ended before kMostRepeats
  int early_held = 0;
  double runs = 0;  ///< of all cases

  double share() const { return static_cast<double>(held) / cases; }
  double early_share() const { return static_cast<double>(early_held) / early; }
  void add(const RepeatedCases& other) {
    cases += other.cases;
    held += other.held;
    early += other.early;
    early_held += other.early_held;
    runs += other.runs;
  }
};

/// Simulates cases whose runs scatter by `scatter`, a share of their step time, as the rule ends them at `margin`.
inline RepeatedCases repeated_cases(int cases, double scatter, double margin, std::mt19937_64& random) {
  constexpr double kTruth_ns = 10e6;
  std::normal_distribution<double> normal;
  RepeatedCases result;
  result.cases = cases;
  for (int i = 0; i < cases; ++i) {
    std::vector<double> step_times_ns;
    while (!experiment::end_of_repeats(step_times_ns, margin))
      step_times_ns.push_back(kTruth_ns * std::exp(scatter * normal(random)));
    const ConfidenceInterval interval = analyzer::mean_of_runs(step_times_ns)->interval;
    const bool held = interval.low <= kTruth_ns && kTruth_ns <= interval.high;
    const bool early = step_times_ns.size() < experiment::kMostRepeats;
    result.held += held;
    result.early += early;
    result.early_held += held && early;
    result.runs += static_cast<double>(step_times_ns.size());
  }
  return result;
}

}  // namespace ddbench::test
