#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/measured.h"

namespace ddbench::analyzer {

/// A number with its interval, or the reason why it has none.
struct Quantity {
  double value = 0;
  Measured<ConfidenceInterval> interval = Measured<ConfidenceInterval>::missing("not measured");
};

struct Estimate {
  double value = 0;
  ConfidenceInterval interval;
};

/// With fewer runs there is no interval over runs: two that happen to agree are no evidence.
inline constexpr std::size_t kFewestRuns = 3;

/// Geometric mean of the positive values that several runs measured: Student's t over runs, on the log scale,
/// so that the interval is never negative. Spreads below 0.05% are not believed (kLeastSpread). Missing, with
/// the reason, for fewer than kFewestRuns and for values not above 0.
Measured<Estimate> mean_of_runs(std::span<const double> values, double level = 0.95);

inline constexpr std::size_t kFewestSignedRanks = 6;  ///< fewer cannot be distinguished from 0 at 95%

/// The centre of differences that are symmetric about it, such as those of pairs in random order: the median
/// of the means of every two of them (Hodges and Lehmann 1963), and the interval of the values that
/// Wilcoxon's signed-rank test does not reject at 5% (normal approximation, rounded outwards). Needs no other
/// assumption about their distribution: an outlier counts as one of n. More than 400 are averaged in 400
/// groups first. `differences` must be kFewestSignedRanks or more, else missing.
Measured<Estimate> signed_rank_estimate(std::span<const double> differences);

double mean(std::span<const double> values);  ///< NaN of an empty list
double median(std::vector<double> values);    ///< throws Error{kBadInput} on an empty list
/// Linear between neighbours. `sorted` is ascending and not empty; share from 0 to 1.
double quantile(const std::vector<double>& sorted, double share);

}  // namespace ddbench::analyzer
