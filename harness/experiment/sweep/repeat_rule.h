#pragma once

#include <optional>
#include <span>
#include <string>

namespace ddbench::experiment {

/// Runs that end because their interval is narrow are those that agree by chance more often than others: the fewer there may be,
/// the less often that interval holds the truth. By simulation the intervals of all cases hold it in 93% (at the worst scatter,
/// 1.5 times the margin) to 95%; with 3 runs 91%. Of the cases that end before kMostRepeats 95% do where runs scatter by 0.8 of
/// the margin or less, 86% at 1.5 times it and 74% at twice it (there one case in seven ends early). No rule with so few runs
/// does better: their mean misses the truth by that much, whatever their spread (`tests/bench/intervals` prints both).
inline constexpr int kFewestRepeats = 5;
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
