#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/statistics/linear_fit.h"

namespace ddbench::analyzer {

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
  /// Per message of the algorithm's formula for an all_reduce of S bytes on n ranks. As above where the
  /// algorithm is not known.
  ///   ring:             2(n-1) alpha + 2(n-1)/n S beta (Patarasuk and Yuan 2009)
  ///   halving-doubling: 2 log2(n) alpha + 2(n-1)/n S beta (Thakur, Rabenseifner and Gropp 2005)
  ///   tree:             2 log2(n) alpha + 2 S beta (the double binary tree, pipelined)
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
/// tried, and one regime more is taken when it explains more than in 99 of 100 draws of the errors without
/// it, with at least three sizes a regime and four regimes at most. An algorithm with fewer than three sizes
/// has no regimes and a note. Throws Error{kBadInput} on times or sizes that are not finite and positive, or
/// fewer than 2 ranks.
std::vector<AlphaBetaFit> fit_alpha_beta(std::span<const TimedSize> points, int ranks);

}  // namespace ddbench::analyzer
