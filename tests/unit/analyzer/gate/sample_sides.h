#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sample_runs.h"

namespace ddbench::analyzer::test {

inline const std::vector<double> kSteady{10.00, 10.05, 9.95, 10.02, 9.98, 10.01};

inline std::vector<double> times(const std::vector<double>& values, double factor) {
  std::vector<double> result;
  for (const double value : values) result.push_back(value * factor);
  return result;
}

struct Sides {
  GateSide baseline;
  GateSide candidate;
};

/// Interleaved sides, the candidate's steps `factor` times as long, its noise in another order.
inline Sides sides(double factor) {
  std::vector<double> candidate = times(kSteady, factor);
  std::rotate(candidate.begin(), candidate.begin() + 2, candidate.end());
  Sides both{sample_side("a", kSteady), sample_side("b", candidate)};
  interleave(both.baseline, both.candidate);
  return both;
}

inline GateVerdict verdict(const Sides& both, const GatePolicy& policy = {}) {
  return judge(both.baseline, both.candidate, policy);
}

inline testing::AssertionResult inconclusive_because(const GateVerdict& verdict, const std::string& words) {
  if (verdict.outcome != GateOutcome::kInconclusive) {
    return testing::AssertionFailure()
           << "the outcome is " << to_string(verdict.outcome) << ": " << verdict.headline;
  }
  for (const std::string& reason : verdict.reasons) {
    if (reason.find(words) != std::string::npos) return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "no reason has \"" << words << "\": " << verdict.headline;
}

inline GatePolicy policy_for(std::vector<RunMetric> metrics) {
  GatePolicy policy;
  policy.metrics = std::move(metrics);
  return policy;
}

}  // namespace ddbench::analyzer::test
