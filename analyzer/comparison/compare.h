#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/statistics/ratio_interval.h"
#include "core/run_case/case_diff.h"

namespace ddbench::analyzer {

/// One side of a comparison: a run, or runs that are taken together.
struct ComparedSide {
  std::string meaning;  ///< in words: "run 2026...", "runs with link=1gbit"
  std::vector<store::RunRecord> runs;
};

/// What may be concluded from two sides.
enum class ComparisonVerdict {
  kRepetitions,     ///< the same case on the same hardware
  kOneChange,       ///< one field of the case differs: it is the cause, apart from noise
  kSeveralChanges,  ///< several differ: no single cause
  kOtherHardware,   ///< fingerprints differ
};
std::string_view to_string(ComparisonVerdict verdict) noexcept;  ///< "repetitions", "one-change", ...

/// The same thing measured on both sides.
struct ComparedFigure {
  std::string name;  ///< the same in each comparison, with sizes in bytes
  std::string unit;  ///< "ns", "samples/s", "GB/s", "bytes", "1"
  /// Geometric mean over runs, arithmetic where one is 0. Of a part of the step, and of exposed communication: of the mean step
  /// (mean_partition), so that the parts sum to the step time.
  Measured<double> a = Measured<double>::missing("not measured");
  Measured<double> b = Measured<double>::missing("not measured");
  Measured<RunRatio> ratio = Measured<RunRatio>::missing("not measured");  ///< b over a
  std::string short_name;  ///< for people: sizes with three digits, if no other figure has that name; empty: the name
};

struct Comparison {
  ComparedSide a;
  ComparedSide b;
  ComparisonVerdict verdict = ComparisonVerdict::kRepetitions;
  std::string verdict_text;
  std::vector<FieldDifference> differences;  ///< field_differences
  std::vector<ComparedFigure>
      figures;  ///< step time, samples/s, exposed communication, peer wait, memory, loss
  std::vector<ComparedFigure> parts;        ///< of the step time
  std::vector<ComparedFigure> collectives;  ///< transfer time, by function, bucket and size
  std::vector<ComparedFigure> kernels;      ///< time a step and rank; the largest change first
  std::vector<std::string> notes;
};

/// What a reference (analyzer/run/run_reference.h) leads to. Throws Error{kBadInput} stating why there are no such runs.
ComparedSide compared_side(const store::RunStore& store, std::string_view reference);

/// Runs that are unfinished or invalid are left out with a note. Ratios have an interval if both sides have
/// kFewestRuns or more; otherwise step time and throughput take it from the scatter of other runs of the same
/// case in the store, and the method states this. The steps of one run give no interval, because runs differ.
/// Throws Error{kBadInput} when a side has no run with figures.
Comparison compare_runs(const store::RunStore& store, ComparedSide a, ComparedSide b);

/// Parts of both sides as stacked bars.
Figure comparison_figure(const Comparison& comparison);

}  // namespace ddbench::analyzer
