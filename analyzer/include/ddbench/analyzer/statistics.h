#pragma once

#include <span>
#include <vector>

#include "ddbench/record/measured.h"

namespace ddbench::analyzer {

struct Estimate {
  double value = 0;
  ConfidenceInterval interval;
};

/// Median of steps of one run. Steps are autocorrelated, so the interval is a moving-block bootstrap (Kuensch
/// 1989) with a fixed seed; the method's name says block length and resamples. Needs 5 or more values, else
/// missing with the reason. Same input, same output.
///
/// The block length follows Politis and White (2004, corrected 2009) on the series sign(x - median), which is
/// what the median's error sums up; it is at least ceil(n^(1/3)) and at most n/4. The interval is that of the
/// percentiles.
Measured<Estimate> median_of_steps(std::span<const double> values, double level = 0.95);

/// Mean of the medians of repeated runs (2 or more): Student's t over runs.
Measured<Estimate> mean_of_runs(std::span<const double> run_medians, double level = 0.95);

/// The block length that median_of_steps uses.
std::size_t bootstrap_block_length(std::span<const double> values);

double mean(std::span<const double> values);     ///< NaN of an empty list
double median(std::vector<double> values);  ///< throws Error{kBadInput} on an empty list

}  // namespace ddbench::analyzer
