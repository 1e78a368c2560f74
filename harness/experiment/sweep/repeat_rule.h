#pragma once

#include <optional>
#include <span>
#include <string>

namespace ddbench::experiment {

/// Fewer runs have no interval between them.
inline constexpr int kFewestRepeats = 3;
inline constexpr int kMostRepeats = 10;

/// Why a case is not run once more.
struct RepeatEnd {
  int runs = 0;
  double half_width = 0;  ///< of the 95% interval of the step time over runs, as a share of it
  bool reached = false;   ///< the margin; else kMostRepeats were run
};

/// Decides whether a case that gave these step times (positive) was run often enough: kFewestRepeats or more, and the
/// half-width of their interval (analyzer::mean_of_runs, on the log scale) is at most `margin`, or kMostRepeats. Nothing: run it
/// once more. Pure.
std::optional<RepeatEnd> end_of_repeats(std::span<const double> step_times_ns, double margin);

/// "5 runs: half-width between runs 0.83% (goal 1%)".
std::string to_words(const RepeatEnd& end, double margin);

}  // namespace ddbench::experiment
