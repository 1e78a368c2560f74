#pragma once

#include <span>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {

/// The mean of a series of values in order of time, with an interval that allows for autocorrelation.
struct SeriesMean {
  Estimate estimate;  ///< value: the plain mean of all values
  double effective_count =
      0;  ///< how many independent values would give this interval; at most the number given
};

/// Fewest values that have an interval.
inline constexpr std::size_t kFewestForSeriesMean = 10;

/// Mean of one run's steps: `values` are the steps' contributions to the elapsed time (positive, in order),
/// so that their mean is elapsed time / steps. The interval is computed on the log scale and is never
/// negative. Missing, with the reason, for fewer than kFewestForSeriesMean values, values that are not
/// finite, a mean that is not above 0, and where the error of the mean is as large as the mean: one step of
/// nearly all the time, or few independent ones that scatter much, do not even tell it from 0. A small
/// effective count alone is no reason: 10 independent steps often look like one, and the interval holds.
/// Pure; same input, same output; O(n).
///
/// Method: the values are averaged over at most 48 batches, so that all but slow variation averages out. The
/// batch means are taken for a first-order autoregression whose coefficient is not known: the restricted
/// likelihood weighs each coefficient (prior 1 / sqrt(1 - phi^2): Berger and Yang 1994, "Noninformative
/// priors for a first-order autoregressive process"), each gives the mean a Student t of its own, and the
/// interval is that of their mixture. `tests/bench/intervals` prints its coverage.
Measured<SeriesMean> mean_of_steps(std::span<const double> values, double level = 0.95);

}  // namespace ddbench::analyzer
