#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/log_ratio.h"
#include "analyzer/statistics/moments.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr double kAssumedFreedom = 3;

struct Side {
  double mean = 0;  ///< of session means
  double sessions = 0;
  double runs_per_session = 0;  ///< harmonic mean
};

Side side_of(const std::vector<std::vector<double>>& sessions, double& squares, double& freedom) {
  Side side;
  side.sessions = static_cast<double>(sessions.size());
  double inverse = 0;
  for (const std::vector<double>& session : sessions) {
    const RunMoments moments = run_moments(session);
    side.mean += moments.mean / side.sessions;
    inverse += 1 / moments.count / side.sessions;
    squares += moments.squares;
    freedom += moments.count - 1;
  }
  side.runs_per_session = 1 / inverse;
  return side;
}

double harmonic_runs(const std::vector<std::vector<double>>& sessions) {
  double inverse = 0;
  for (const auto& session : sessions) inverse += 1 / static_cast<double>(session.size());
  return static_cast<double>(sessions.size()) / inverse;
}

bool any_empty(const std::vector<std::vector<double>>& sessions) {
  return std::any_of(sessions.begin(), sessions.end(), [](const auto& session) { return session.empty(); });
}

}  // namespace

LogRatio session_log_ratio(const SessionSides& sides, int least_sessions, double assumed_spread) {
  if (sides.baseline.empty() || sides.candidate.empty() || any_empty(sides.baseline) ||
      any_empty(sides.candidate) || any_empty(sides.history)) {
    throw Error(ErrorCode::kBadInput, "comparing sessions needs one or more a side, each with a run");
  }
  double squares = 0;
  double run_freedom = 0;
  const Side baseline = side_of(sides.baseline, squares, run_freedom);
  const Side candidate = side_of(sides.candidate, squares, run_freedom);
  const double run_variance = run_freedom > 0 ? squares / run_freedom : 0;
  const double estimate = candidate.mean - baseline.mean;
  const double draws = 1 / baseline.sessions + 1 / candidate.sessions;

  if (static_cast<int>(sides.history.size()) < std::max(2, least_sessions)) {
    const double between = assumed_spread * assumed_spread * draws;
    const double within = run_variance * (1 / (baseline.sessions * baseline.runs_per_session) +
                                          1 / (candidate.sessions * candidate.runs_per_session));
    const double both = between + within;
    double freedom = between * between / kAssumedFreedom;
    if (run_freedom > 0) freedom += within * within / run_freedom;
    return {
        estimate,
        {{1, std::sqrt(both), both * both / freedom}},
        fmt::format(
            "runs of {:.0f} and {:.0f} sessions, {:.1f}% between sessions assumed (too few to estimate it)",
            baseline.sessions, candidate.sessions, assumed_spread * 100)};
  }
  std::vector<double> means;
  for (const auto& session : sides.history) means.push_back(run_moments(session).mean);
  const RunMoments history = run_moments(means);
  // A mean over fewer runs than the history's sessions had scatters more; one over more runs is given no
  // credit.
  const auto shortage = [&](const Side& side) {
    const double missing = 1 / side.runs_per_session - 1 / harmonic_runs(sides.history);
    return std::max(0.0, missing) * run_variance / side.sessions;
  };
  const double between = history.variance * draws;
  const double within = shortage(baseline) + shortage(candidate);
  const double both = std::max(between + within, kLeastSpread * kLeastSpread);
  double freedom = between * between / (history.count - 1);
  if (within > 0) freedom += within * within / std::max(1.0, run_freedom);
  freedom = freedom > 0 ? both * both / freedom : history.count - 1;
  return {estimate,
          {{1, std::sqrt(both), freedom}},
          fmt::format("Student t, {:.2f}% between {} sessions, {:.1f} df", std::sqrt(history.variance) * 100,
                      means.size(), freedom)};
}

}  // namespace ddbench::analyzer
