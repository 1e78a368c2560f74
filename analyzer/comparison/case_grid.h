#pragma once

#include <string>
#include <vector>

#include "analyzer/comparison/compare_by.h"

namespace ddbench::analyzer {

/// Runs of one case with one value of the field.
struct GroupCell {
  std::string curve;  ///< shared by cases that differ only in size and value
  std::string rest;   ///< shared by cases that differ only in the value
  std::string value;
  std::string variant;  ///< GroupRow::variant
  std::vector<RunSummary> runs;

  const RunCase& run_case() const { return runs.front().run.run_case; }
};

/// The cells of these summaries (oldest first), by curve, size and place of the value in `values`, which is
/// filled: in order of number or age, the reference first. Where some curves have several values, the cells
/// of the others are left out and counted in `notes`. Throws Error{kBadInput} when no cell has the reference.
std::vector<GroupCell> group_cells(std::vector<RunSummary> summaries, const std::string& field,
                                   const std::string& reference, std::vector<std::string>& values,
                                   std::vector<std::string>& notes);

/// The value shown for a network that was not proved.
inline constexpr const char* kNotProved = "not proved";

}  // namespace ddbench::analyzer
