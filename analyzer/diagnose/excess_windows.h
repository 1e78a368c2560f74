#pragma once

#include <vector>

#include "analyzer/diagnose/culprit.h"

namespace ddbench::analyzer {

/// Where a rank may have been slow: the whole run, and from each change point of each rank's excess to each later one.
/// Changes are looked for in medians of at most 200 groups of steps, by ranks of values (Pettitt 1979) and binary segmentation,
/// and are at least 4% of the step. They say where to look: autocorrelated noise has some, too.
/// Windows of fewer than `least_steps` are left out; at most some hundred are given.
std::vector<StepWindowRows> excess_windows(const WorkTable& table, std::size_t least_steps);

/// Where a series changes its level by `least_move` or more, in the same way: places in it, ascending, its ends included.
std::vector<std::size_t> level_changes(const std::vector<double>& values, double least_move);

}  // namespace ddbench::analyzer
