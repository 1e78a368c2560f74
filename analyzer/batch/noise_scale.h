#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/statistics/linear_fit.h"

namespace ddbench::analyzer {

/// The gradient norms of one step of a DDP run: the mean over ranks of |g|^2 before the all-reduce (each over
/// `small_batch` samples), and |g|^2 of the average after it (over `big_batch` samples).
struct GradientNorms {
  double small_square = 0;
  double big_square = 0;
};

/// The simple noise scale tr(Sigma)/|G|^2 in samples (McCandlish et al. 2018, arXiv 1812.06162, appendix
/// A.1): about the batch at which twice the samples buy half the steps.
struct NoiseScale {
  double gradient_square = 0;  ///< unbiased |G|^2, mean over steps
  double noise_trace = 0;      ///< unbiased tr(Sigma), mean over steps
  /// The ratio of the two means. Missing when the gradient drowns in the noise; then only `at_least` is
  /// known.
  Measured<Estimate> samples = Measured<Estimate>::missing("no steps");
  /// Lower bound of the 95% interval if the upper one is infinite; 0: no bound.
  double at_least = 0;
  std::size_t steps = 0;

  /// The ratio of the means, even if its error has no bound; 0 if the gradient cannot be separated from the
  /// noise.
  double point() const { return gradient_square > 0 && noise_trace > 0 ? noise_trace / gradient_square : 0; }
};

/// Both estimators are linear in the norms, and unbiased, so they are averaged before the ratio is taken. The
/// interval is that of Fieller with Student's t. Given the parameters, the noise of a step comes from the
/// samples of that step alone, so errors are estimated from the differences of successive steps of a run: a change
/// of gradient and noise during training is not an error of their means over these steps. `runs`: the steps of each
/// run, in order. Throws Error{kBadInput} unless 0 < small_batch < big_batch and every norm is finite and not
/// negative.
NoiseScale gradient_noise_scale(std::span<const std::vector<GradientNorms>> runs, double small_batch,
                                double big_batch);

/// One batch of a sweep: the number of steps that each run took to the target loss. A run that did not reach
/// it has no such number; `unreached_after` holds the steps after which it ended (censored).
struct StepsToTarget {
  double global_batch = 1;
  std::vector<double> steps;
  std::vector<double> unreached_after;
};

/// What stands for a censored value, which is only known to be above some other.
struct Imputed {
  double value = 0;  ///< its expectation (of its logarithm)
  /// Its information on the mean as a share of that of a known value, from 0 to 1: the Fisher information of a censored
  /// normal value, lambda (lambda - z), where lambda is the normal distribution's hazard at z.
  double weight = 0;
};

/// For a value above `censored_at`, when logarithms scatter by `spread` about log(`expected`).
Imputed imputed_above(double censored_at, double expected, double spread);

/// Mean of positive values of which some are only known to be above `censored`: their logarithms are taken as
/// normal. Missing, with the reason, when some are censored and fewer than 2 are not.
Measured<double> censored_mean(std::span<const double> values, std::span<const double> censored);

/// steps = S_min (1 + B_crit/B), samples = E_min (1 + B/B_crit), E_min = S_min B_crit (McCandlish et al.,
/// eq. 2.11): at the critical batch training takes twice the fewest steps and twice the fewest samples.
struct CriticalBatch {
  Metric fewest_steps;  ///< without an interval where the error cannot be estimated
  Metric fewest_samples;
  Measured<Estimate> batch = Measured<Estimate>::missing("not fitted");
  double rms_error = 0;  ///< relative, for the means about the curve
  std::vector<double>
      badly_fitted_batches;  ///< where the law does not hold, e.g. beyond the largest useful rate
  std::vector<std::string> notes;
  LinearFit fit;
};

/// Censored observations by iterated least squares (Schmee and Hahn 1979): a run that ended before the target
/// counts with the steps that it is expected to need, given the fit and that it needs more than it made. Intervals
/// count it by the information that it has (Imputed::weight); their coverage is that of runs that all arrived
/// (0.94 to 0.96 with up to 40% of the runs censored, by simulation). Missing when fewer than three batches reached the target. Throws Error{kBadInput} on a batch or number of
/// steps that is not finite and positive.
Measured<CriticalBatch> fit_critical_batch(std::span<const StepsToTarget> batches);

/// Steps and samples to the target over the batch, measured and fitted, with the critical batch. Log-log.
Figure critical_batch_figure(std::span<const StepsToTarget> batches, const CriticalBatch& fit);

}  // namespace ddbench::analyzer
