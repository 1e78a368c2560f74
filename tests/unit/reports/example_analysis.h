#pragma once

#include "ddbench/analyzer/compare.h"
#include "ddbench/analyzer/compare_by.h"
#include "ddbench/analyzer/cost.h"
#include "ddbench/analyzer/scaling_curve.h"

namespace ddbench::reports {

// Written by hand, with round numbers: what is printed, not what is computed, is held against golden files.

analyzer::ScalingCurve example_curve();
analyzer::Comparison example_comparison();
analyzer::GroupComparison example_groups();
analyzer::CostTable example_costs();

}  // namespace ddbench::reports
