#pragma once

#include <span>
#include <vector>

#include "analyzer/comparison/compare.h"

namespace ddbench::analyzer {

/// All fields of case and environment in which the sides differ, facts as "fact NAME", in the order
/// requested, detected, consequence. Values of several runs are joined by commas.
std::vector<FieldDifference> field_differences(std::span<const store::RunRecord> a,
                                              std::span<const store::RunRecord> b);

/// Sets verdict and verdict_text from the differences.
void judge(Comparison& comparison);

}  // namespace ddbench::analyzer
