#pragma once

#include <string>
#include <vector>

#include "analyzer/comparison/compare.h"
#include "analyzer/comparison/compare_by.h"
#include "analyzer/cost/cost.h"
#include "analyzer/cost/curve/curve_costs.h"
#include "analyzer/scaling/scaling_curve.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

// The output of `ddbench scaling` and `ddbench compare`; JSON as in json.h (schemas: curve, comparison,
// groups).

/// With the tables of costs that `costs` has.
std::string curve_text(const analyzer::ScalingCurve& curve, const TextStyle& style, const analyzer::CurveCosts& costs = {});
std::string curve_json(const analyzer::ScalingCurve& curve, const analyzer::CurveCosts& costs = {});

std::string comparison_text(const analyzer::Comparison& comparison, const TextStyle& style);
std::string comparison_json(const analyzer::Comparison& comparison);

/// With the table of costs if `costs` has rows.
std::string groups_text(const analyzer::GroupComparison& groups, const analyzer::CostTable& costs,
                        const TextStyle& style);
std::string groups_json(const analyzer::GroupComparison& groups, const analyzer::CostTable& costs);

}  // namespace ddbench::reports
