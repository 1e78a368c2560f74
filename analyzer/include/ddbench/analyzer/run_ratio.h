#pragma once

#include <span>

#include "ddbench/analyzer/statistics.h"

namespace ddbench::analyzer {

/// The ratio of two things that were each measured by several runs: of their geometric means, with Welch's t
/// on the logarithms (1947; degrees of freedom of Satterthwaite). Runs are the unit: both sides need 2 or
/// more, else there is no interval and `interval` is missing with the reason. Spreads below 0.05 % are not
/// believed (kLeastSpread).
struct RunRatio {
  double value = 0;
  Measured<ConfidenceInterval> interval = Measured<ConfidenceInterval>::missing("no runs");
};

/// Throws Error{kBadInput} when a side is empty or a value is not finite and positive.
RunRatio ratio_of_runs(std::span<const double> numerator, std::span<const double> denominator,
                       double level = 0.95);

}  // namespace ddbench::analyzer
