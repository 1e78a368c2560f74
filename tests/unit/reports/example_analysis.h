#pragma once

#include "analyzer/comparison/compare.h"
#include "analyzer/comparison/compare_by.h"
#include "analyzer/cost/cost.h"
#include "analyzer/scaling/scaling_curve.h"

namespace ddbench::reports {

// Written by hand, with round numbers: what is printed, not what is computed, is held against golden files.

analyzer::ScalingCurve example_curve();
analyzer::Comparison example_comparison();
analyzer::GroupComparison example_groups();
analyzer::CostTable example_costs();

}  // namespace ddbench::reports
