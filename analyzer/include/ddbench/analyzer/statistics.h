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
Measured<Estimate> median_of_steps(std::span<const double> values, double level = 0.95);

/// Mean of the medians of repeated runs (2 or more): Student's t over runs.
Measured<Estimate> mean_of_runs(std::span<const double> run_medians, double level = 0.95);

double median(std::vector<double> values);  ///< throws Error{kBadInput} on an empty list

}  // namespace ddbench::analyzer
