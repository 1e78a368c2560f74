#pragma once

#include <span>
#include <string>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {

/// The ratio of two things that were each measured by several runs: of their geometric means, with Welch's t
/// on the logarithms (1947; degrees of freedom of Satterthwaite). Runs are the unit: both sides need 3 or
/// more (kFewestRuns), else there is no interval and `interval` is missing with the reason. Spreads below
/// 0.05% are not believed (kLeastSpread).
using RunRatio = Quantity;

/// Throws Error{kBadInput} when a side is empty or a value is not finite and positive.
RunRatio ratio_of_runs(std::span<const double> numerator, std::span<const double> denominator,
                       double level = 0.95);

/// How far runs of one case scatter, estimated from several groups of runs that each share a mean.
struct RunSpread {
  double squares = 0;             ///< of deviations of logarithms from the group's mean
  double degrees_of_freedom = 0;  ///< runs - groups

  /// Adds a group of positive values.
  void add(std::span<const double> values);
};

/// The ratio with an interval from such a spread, which must have 2 or more degrees of freedom (else
/// `interval` is missing): Student's t. `source` names the origin of the spread in words. Throws as
/// ratio_of_runs.
RunRatio ratio_with_spread(std::span<const double> numerator, std::span<const double> denominator,
                           const RunSpread& spread, const std::string& source, double level = 0.95);

}  // namespace ddbench::analyzer
