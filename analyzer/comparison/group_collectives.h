#pragma once

#include <vector>

#include "analyzer/comparison/case_grid.h"

namespace ddbench::analyzer {

/// Fills GroupComparison::collectives and ::fits from collectives of two ranks and more.
void add_group_collectives(const std::vector<GroupCell>& cells, GroupComparison& result);

}  // namespace ddbench::analyzer
