#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/statistics/linear_fit.h"

namespace ddbench::analyzer {

/// How an all-reduce is done; decides what its time says about the links.
enum class AllReduceAlgorithm {
  kUnknown,          ///< time = alpha + beta S, as measured
  kRing,             ///< 2(n-1) alpha + 2(n-1)/n S beta (Patarasuk and Yuan 2009)
  kHalvingDoubling,  ///< 2 log2(n) alpha + 2(n-1)/n S beta (Thakur, Rabenseifner and Gropp 2005)
  kTree,             ///< 2 log2(n) alpha + 2 S beta: the double binary tree, pipelined
};
std::string_view to_string(
    AllReduceAlgorithm algorithm) noexcept;  ///< "unknown", "ring", "halving-doubling", "tree"
AllReduceAlgorithm all_reduce_algorithm_from(std::string_view text);  ///< inverse; throws Error{kBadInput}

/// What an all-reduce of `bytes` on `ranks` takes, by the formulas above.
double all_reduce_time_ns(AllReduceAlgorithm algorithm, int ranks, double bytes, double alpha_ns,
                          double beta_ns_per_byte);

/// Measured collectives of one size; `algorithm` groups points ("ring", "tree/LL128", ""). Sizes as
/// nccl-tests count.
struct TimedSize {
  std::string algorithm;
  double bytes = 0;
  std::vector<double> time_ns;  ///< one a measurement
};

/// One size regime: time = latency + bytes * time per byte.
struct AlphaBetaRegime {
  double from_bytes = 0;  ///< the smallest and the largest measured size of the regime
  double to_bytes = 0;
  std::size_t sizes = 0;
  double latency_ns = 0;
  double ns_per_byte = 0;
  Measured<Estimate> latency = Measured<Estimate>::missing("not fitted");
  Measured<Estimate> per_byte = Measured<Estimate>::missing("not fitted");
  /// Per message of the algorithm's formula. As above where the algorithm is not known.
  double alpha_ns = 0;
  double beta_ns_per_byte = 0;
  double r_squared = 0;  ///< of the times, each weighted by its inverse square: 1 is a perfect fit
  double rms_error = 0;  ///< relative
  std::vector<double> badly_fitted_bytes;
};

struct AlphaBetaFit {
  std::string algorithm;
  int ranks = 0;
  std::vector<AlphaBetaRegime> regimes;  ///< by size; they need not meet: protocols switch
  std::vector<std::string> notes;
};

/// One fit for each algorithm of the points, in order of name. Regimes are found: all cuts of the sizes are
/// tried, and one regime more is taken when it explains more than in 99 of 100 draws of the errors without it, with
/// at least three sizes a regime and four regimes at most. An algorithm with fewer than three sizes has no regimes and a note. Throws
/// Error{kBadInput} on times or sizes that are not finite and positive, or fewer than 2 ranks.
std::vector<AlphaBetaFit> fit_alpha_beta(std::span<const TimedSize> points, int ranks);

struct TimePrediction {
  double time_ns = 0;
  bool extrapolated = false;  ///< beyond twice the largest size, or below half the smallest
};
/// Of the regime that holds the size, or lies nearest. Throws Error{kBadInput} on a fit without regimes.
TimePrediction predict_time(const AlphaBetaFit& fit, double bytes);

/// Time over size, measured and fitted, log-log.
Figure alpha_beta_figure(std::span<const TimedSize> points, const std::vector<AlphaBetaFit>& fits);

}  // namespace ddbench::analyzer
