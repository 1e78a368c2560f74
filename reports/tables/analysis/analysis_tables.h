#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/batch/batch_analysis.h"
#include "analyzer/collectives/micro_table.h"
#include "analyzer/comparison/compare.h"
#include "analyzer/comparison/compare_by.h"
#include "analyzer/cost/cost.h"
#include "analyzer/cost/curve/curve_costs.h"
#include "analyzer/scaling/scaling_curve.h"
#include "reports/tables/data_table.h"
#include "reports/tables/run_content.h"

namespace ddbench::reports {

// The results of an analysis of several runs, for the terminal and the dashboard. Columns without known
// values, or with the same value in all rows, are left out.

/// One of several curves; the label distinguishes them.
struct NamedCurve {
  std::string label;
  const analyzer::ScalingCurve* curve = nullptr;
};

DataTable curve_data(std::span<const NamedCurve> curves);  ///< a row for each size of each curve
/// The waterfall of each size except the baseline, one column per size, split into tables of at most `sizes`
/// columns. Empty if no size has a waterfall.
std::vector<DataTable> lost_by_size_data(const analyzer::ScalingCurve& curve, std::size_t sizes);
DataTable law_data(const analyzer::ModelChoice& law);
DataTable predictions_data(const analyzer::ScalingCurve& curve);
DataTable stragglers_data(const analyzer::StragglerReport& report);  ///< nodes, then the ranks that cost most

DataTable groups_data(const analyzer::GroupComparison& groups);
DataTable group_collectives_data(const analyzer::GroupComparison& groups);
DataTable costs_data(const analyzer::CostTable& costs);
DataTable nodes_in_time_data(const analyzer::NodesInTime& answer);
/// One row per regime of sizes. `field` distinguishes the values of GroupFit; empty if there are none.
DataTable fits_data(std::span<const analyzer::GroupFit> fits, const std::string& field);

DataTable differences_data(const analyzer::Comparison& comparison);
/// The first `most` of the figures that either side has.
DataTable compared_data(const std::string& caption, const std::vector<analyzer::ComparedFigure>& figures, std::size_t most);
DataTable compared_parts_data(const analyzer::Comparison& comparison);
/// All tables of a comparison that have rows, in their order.
std::vector<DataTable> comparison_tables(const analyzer::Comparison& comparison);
/// "run 4f3a · mlp · 4 nodes × 4 GPUs = 16 ranks · measured"
std::string side_in_words(const analyzer::ComparedSide& side);

/// The measurements of `ddbench micro`: collectives by size, ceilings, latency and bandwidth; those with rows.
std::vector<DataTable> micro_tables(const analyzer::MicroTable& micro);
std::vector<Tile> micro_tiles(const analyzer::MicroTable& micro);
/// Of its functions that have regimes, for fits_data().
std::vector<analyzer::GroupFit> fits_of(const analyzer::MicroTable& micro);

DataTable batch_data(const analyzer::BatchCurve& curve);
DataTable noise_data(const analyzer::BatchCurve& curve);

}  // namespace ddbench::reports
