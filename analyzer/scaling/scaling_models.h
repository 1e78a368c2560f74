#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/extrapolate/size_law.h"
#include "analyzer/statistics/linear_fit.h"
#include "core/measured.h"

namespace ddbench::analyzer {

/// Laws of the throughput X on N processors; lambda is X(1). With strong scaling X(N)/lambda is the speedup.
enum class ScalingModel {
  kAmdahl,     ///< X = lambda N / (s N + 1 - s), i.e. speedup 1/(s + (1-s)/N) (Amdahl 1967)
  kGustafson,  ///< X = lambda (s + (1-s) N) (Gustafson 1988)
  kUsl,  ///< X = lambda N / (1 + sigma (N-1) + kappa N (N-1)), the universal scalability law (Gunther 1993)
  kLogLaw,    ///< X = lambda N / (1 + c log2 N): the cost of a tree of messages
  kPowerLaw,  ///< X = lambda N^p
};
inline constexpr int kScalingModelCount = 5;
std::string_view to_string(
    ScalingModel model) noexcept;  ///< "amdahl", "gustafson", "usl", "log-law", "power-law"
std::string_view formula(ScalingModel model) noexcept;  ///< "X = lambda N / (s N + 1 - s)", ...

/// What the runs at one scale reached: samples/s (or speedups), one a run.
struct ScalingPoint {
  double n = 1;
  std::vector<double> throughput;
};

/// One law fitted to a curve. All five are linear in their coefficients once written as N/X, X or log X with
/// relative errors, so that the fit is exact and its intervals are those of linear regression.
struct ScalingFit {
  ScalingModel model = ScalingModel::kAmdahl;
  /// "lambda" first, then "serial fraction", "sigma", "kappa", "peak at" (N), "c" or "exponent". Without an
  /// interval if the points do not determine one.
  std::vector<Metric> parameters;
  double smallest_n = 1;
  double largest_n = 1;
  double rms_error = 0;  ///< of the points' means about the curve, relative
  LinearFit fit;
};

/// Missing when the points are fewer than the law's parameters. Points of equal n are taken together. Throws
/// Error{kBadInput} on n or a throughput that is not finite and positive, or no point.
Measured<ScalingFit> fit_scaling(std::span<const ScalingPoint> points, ScalingModel model);

struct Prediction {
  double n = 1;
  double throughput = 0;
  Measured<Estimate> interval =
      Measured<Estimate>::missing("the error cannot be estimated");  ///< of the mean curve
  bool extrapolated = false;  ///< n lies beyond twice the largest measured n (or below half the smallest)
  ClusterShape shape = {};    ///< where it was predicted for nodes of GPUs
  std::vector<SizeModel> models = {};  ///< the averaged models; empty if a single law predicts
};
Prediction predict(const ScalingFit& fit, double n);

struct ModelCandidate {
  ScalingModel model = ScalingModel::kAmdahl;
  /// Root mean square relative error at scales that were left out of the fit in turn.
  Measured<double> cross_validation_error = Measured<double>::missing("not tried");
};

/// The law with the smallest error for left-out scales; among equals the one with fewer parameters.
struct ModelChoice {
  ScalingFit best;
  std::vector<ModelCandidate> candidates;  ///< best first
  std::vector<ScalingFit> close;           ///< others whose error is at most 1.5 times that of the best
  std::vector<double> badly_fitted_n;      ///< scales that the chosen law does not describe (fit_linear)
  std::vector<std::string> notes;
};

/// Missing with the reason when there are fewer than three scales: then no scale can be left out. Under weak
/// scaling laws with a serial fraction are not tried: a share of work that does not divide means nothing
/// where the work grows with the GPUs.
Measured<ModelChoice> choose_scaling_model(std::span<const ScalingPoint> points, bool weak = false);

}  // namespace ddbench::analyzer
