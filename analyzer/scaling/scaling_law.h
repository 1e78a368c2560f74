#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/scaling/scaling_models.h"

namespace ddbench::analyzer {

/// A law written as a line: which y of (n, X) is linear in which regressors of n.
struct Linearised {
  std::size_t parameters;
  ErrorModel errors;
  double (*y)(double n, double throughput);
  double (*throughput)(double n, double y);
  Coefficients (*x)(double n);
  Coefficients one;  ///< the combination of coefficients that is y at n = 1
};

const Linearised& linearised(ScalingModel model);

/// Checked, with points of equal n taken together, by n.
std::vector<ScalingPoint> sorted_curve(std::span<const ScalingPoint> points);

/// For a sorted curve; empty when it has too few points.
std::optional<LinearFit> fit_law(const std::vector<ScalingPoint>& curve, ScalingModel model);

/// The law's value at n; not finite or not positive if the law breaks down.
double throughput_at(const LinearFit& fit, ScalingModel model, double n);

}  // namespace ddbench::analyzer
