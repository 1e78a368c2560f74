#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/batch/batch_analysis.h"
#include "analyzer/comparison/compare.h"
#include "analyzer/comparison/compare_by.h"
#include "analyzer/cost/cost.h"
#include "analyzer/scaling/scaling_curve.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

// What an analysis of several runs says, for the terminal and the dashboard. Columns in which nothing is known, or in which all rows
// would say the same, are left out.

/// A curve among others; the label tells them apart.
struct NamedCurve {
  std::string label;
  const analyzer::ScalingCurve* curve = nullptr;
};

DataTable curve_data(std::span<const NamedCurve> curves);  ///< a row for each size of each curve
/// The waterfall of each size but the baseline, a column each; in tables of at most `sizes` of them. Empty where none has one.
std::vector<DataTable> lost_by_size_data(const analyzer::ScalingCurve& curve, std::size_t sizes);
DataTable law_data(const analyzer::ModelChoice& law);
DataTable predictions_data(const analyzer::ScalingCurve& curve);
DataTable stragglers_data(const analyzer::StragglerReport& report);  ///< nodes, then the ranks that cost most

DataTable groups_data(const analyzer::GroupComparison& groups);
DataTable group_collectives_data(const analyzer::GroupComparison& groups);
DataTable costs_data(const analyzer::CostTable& costs);
/// A row for each regime of sizes. `field` tells the values of GroupFit apart; empty where there are none.
DataTable fits_data(std::span<const analyzer::GroupFit> fits, const std::string& field);

DataTable differences_data(const analyzer::Comparison& comparison);
/// The first `most` of the figures that either side has.
DataTable compared_data(const std::string& caption, const std::vector<analyzer::ComparedFigure>& figures, std::size_t most);
DataTable compared_parts_data(const analyzer::Comparison& comparison);

DataTable batch_data(const analyzer::BatchCurve& curve);
DataTable noise_data(const analyzer::BatchCurve& curve);

}  // namespace ddbench::reports
