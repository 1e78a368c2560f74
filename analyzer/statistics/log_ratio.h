#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/statistics/moments.h"
#include "analyzer/statistics/student_mixture.h"

namespace ddbench::analyzer {

/// What is known of log(candidate / baseline): one estimate and a mixture of Student t distributions about
/// it. Everything here works on logarithms of one number a run, because the unit of a comparison is the run.
class LogRatio {
 public:
  using Component = StudentMixture::Component;
  LogRatio(double estimate, std::vector<Component> components, std::string method);

  double estimate() const noexcept { return estimate_; }
  /// The source of the spread, in words and numbers: "paired Student t, 9 df".
  const std::string& method() const noexcept { return method_; }
  /// One-sided p-value of "the true log ratio is `bound` or less".
  double probability_at_most(double bound) const;
  /// The `share` quantile of the distribution: 0.01 gives the one-sided 99% lower bound.
  double quantile(double share) const;
  /// The same estimate with a further, normal source of error of standard deviation `spread` (t of the
  /// combined variance, Satterthwaite's degrees of freedom).
  LogRatio with_spread(double spread, const std::string& source) const;

 private:
  static std::vector<Component> with_least_spread(std::vector<Component> components);

  double estimate_;
  StudentMixture error_;
  std::string method_;
};

/// Spreads below this (0.05%) are not believed: clocks tick, pages have a size, figures of logs are rounded, and few runs
/// may agree by chance.
inline constexpr double kLeastSpread = 5e-4;

/// The variance of one run's value, with a spread of kLeastSpread of the mean at least. 0 where all values are 0: there is
/// nothing to measure.
double believed_variance(const RunMoments& moments);

/// Runs that were made in turns: `baseline[k]` and `candidate[k]` are neighbours in time, the order within
/// pairs balanced (ABBA), so that drift cancels. One-sample Student t of the differences, n - 1 degrees of
/// freedom. Needs 2 or more pairs.
LogRatio paired_log_ratio(std::span<const double> baseline, std::span<const double> candidate);

/// The logarithm of one run's number.
struct TimedValue {
  double value = 0;
  bool candidate = false;
};

/// Runs of one session, in order of time, that are not interleaved (one side after the other, or anyhow).
/// Welch's t (Satterthwaite's degrees of freedom), widened for run-to-run autocorrelation: the variance of
/// the difference of the sides' means under an AR(1) process, integrated over its coefficient with the
/// weights that the runs themselves give it (restricted likelihood, all coefficients equally likely
/// beforehand), and for a linear trend where one stands out inside the sides. Needs 2 or more runs a side.
LogRatio sequence_log_ratio(std::span<const TimedValue> runs);

/// Runs of several sessions: each inner list holds one session. A session has its own effect, shared by its
/// runs, so that the candidate's session is one more draw from the spread between sessions. `history`:
/// sessions from which that spread is estimated (the baseline's own or, where those are few, of earlier
/// versions too), each as its mean.
struct SessionSides {
  std::vector<std::vector<double>> baseline;
  std::vector<std::vector<double>> candidate;
  std::vector<std::vector<double>> history;
};

/// Random effects model. The spread between sessions is that of `history` (Student t, its number - 1 degrees
/// of freedom) when there are `least_sessions` or more, and what runs add where a side has fewer a session than the history;
/// else `assumed_spread` with the weight of 3 degrees of freedom, and what the runs' own spread adds.
LogRatio session_log_ratio(const SessionSides& sides, int least_sessions, double assumed_spread);

/// Holm (1979): which hypotheses of these p-values are rejected at a family-wise `level`. `family` >=
/// p_values.size() also counts tests that were requested but could not be made.
std::vector<bool> holm_rejections(std::span<const double> p_values, double level, std::size_t family);

}  // namespace ddbench::analyzer
