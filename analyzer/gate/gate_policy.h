#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/run_measures.h"

namespace ddbench::analyzer {

/// What the gate fails on. Shares are fractions: 0.03 is 3%.
struct GatePolicy {
  std::vector<RunMetric> metrics{RunMetric::kStepTime};
  /// An estimated slowdown up to this is no regression; one beyond it is where it is beyond noise as well. That is tested
  /// against zero, not against the threshold: a true slowdown just below it may be estimated above it.
  double threshold = 0.03;
  std::map<RunMetric, double> thresholds;  ///< where a metric has its own
  double confidence = 0.99;                ///< one-sided, over all metrics together
  int min_pairs = 3;                       ///< runs a side below which there is no verdict
  int repeat_on_fail = 0;  ///< `gate --run`: how often a regression is measured again before it counts
  int min_sessions = 3;  ///< sessions from which the spread between sessions is estimated rather than assumed
  double session_spread = 0.02;  ///< assumed standard deviation between sessions until then
  double drift_spread =
      0.01;  ///< assumed standard deviation between two series of runs of one session not made in turns
  std::set<std::string> vary;  ///< fields that are meant to differ (compare_sides)

  double threshold_of(RunMetric metric) const;
};

/// "3%" or "0.03" as a fraction. Throws Error{kBadInput} naming `what` unless it is above 0 and at most 1000
/// %.
double parse_share(std::string_view text, std::string_view what);

/// A comma-separated list of metrics' names, each once.
std::vector<RunMetric> parse_metrics(std::string_view text);

/// Reads a policy in TOML: the fields above by their names (shares as "3%" or 0.03), `[thresholds]` by
/// metric. Unknown keys, wrong types and impossible values raise Error{kBadInput} naming file, line and the
/// allowed values.
GatePolicy parse_policy(std::string_view toml, std::string_view file);
GatePolicy read_policy(const std::filesystem::path& file);

/// Throws Error{kBadInput} on values that no policy may have, wherever they came from.
void validate(const GatePolicy& policy);

}  // namespace ddbench::analyzer
