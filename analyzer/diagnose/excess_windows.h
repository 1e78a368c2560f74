#pragma once

#include <vector>

#include "analyzer/diagnose/culprit.h"

namespace ddbench::analyzer {

/// Windows in which a rank may have been slow: the whole run, and from each change point of each rank's
/// excess to each later one. Changes are sought in medians of at most 200 groups of steps, by ranks of values
/// (Pettitt 1979) and binary segmentation, and are at least 4% of the step. They only suggest where to look:
/// autocorrelated noise has some, too. Windows of fewer than `least_steps` are left out; at most about a
/// hundred are returned.
std::vector<StepWindowRows> excess_windows(const WorkTable& table, std::size_t least_steps);

/// The indices at which a series changes its level by `least_move` or more, found in the same way: ascending,
/// including both ends.
std::vector<std::size_t> level_changes(const std::vector<double>& values, double least_move);

}  // namespace ddbench::analyzer
