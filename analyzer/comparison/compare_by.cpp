#include "analyzer/comparison/compare_by.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/comparison/case_grid.h"
#include "analyzer/comparison/group_collectives.h"
#include "analyzer/comparison/case_history.h"
#include "analyzer/rate/checkpoint_times.h"
#include "analyzer/run/case_figures.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/run/run_fields.h"
#include "analyzer/run/usable_runs.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

Measured<RunRatio> against_reference(const store::RunStore& store, const GroupCell& cell,
                                     const std::vector<GroupCell>& cells, const std::string& reference) {
  if (cell.value == reference) return Measured<RunRatio>::missing("the reference");
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const GroupCell& other) {
    return other.rest == cell.rest && other.value == reference;
  });
  if (found == cells.end()) return Measured<RunRatio>::missing(fmt::format("not run with {}", reference));
  return throughput_ratio(store, cell.runs, found->runs);
}

GroupRow row_of(const store::RunStore& store, const GroupCell& cell) {
  GroupRow row;
  row.run_case = cell.run_case();
  row.world_size = row.run_case.world_size();
  row.value = cell.value;
  row.variant = cell.variant;
  const CaseFigures figures = case_figures(cell.runs);
  row.runs = figures.runs;
  row.samples_per_s = figures.samples_per_s;
  row.run_samples_per_s = figures.run_samples_per_s;
  row.without_samples = figures.without_samples;
  row.step_time_ns = figures.step_time_ns ? Measured<double>(figures.step_time_ns->value)
                                          : Measured<double>::missing(figures.step_time_ns.reason());
  std::vector<store::RunRecord> runs;
  for (const RunSummary& summary : cell.runs) runs.push_back(summary.run);
  row.checkpoint_ns = checkpoint_ns_a_step(store, runs);
  for (const RunSummary& summary : cell.runs)
    row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | summary.run.provenance.bits());
  row.exposed_share = figures.exposed_share;
  if (figures.exposed_share)
    row.exposed_ns = static_cast<double>(figures.partition->exposed_communication_ns());
  else
    row.exposed_ns = Measured<double>::missing(figures.exposed_share.reason());
  return row;
}

double rate_of_a_gpu(const GroupRow& row) {
  return row.samples_per_s / row.world_size;
}

/// Rows stand in the order of the cells.
Measured<double> efficiency_of(std::size_t index, const std::vector<GroupCell>& cells,
                               const GroupComparison& result) {
  const bool between_nodes = result.field == "link" || result.field == "network";
  const GroupRow& row = result.rows[index];
  const GroupRow* smallest = nullptr;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const GroupRow& other = result.rows[i];
    const bool fits = other.value == row.value || (between_nodes && is_one_node(other.run_case));
    if (!fits || cells[i].curve != cells[index].curve || other.world_size >= row.world_size) continue;
    if (smallest == nullptr || other.world_size < smallest->world_size) smallest = &other;
  }
  if (smallest == nullptr) return Measured<double>::missing("the smallest size");
  if (row.without_samples.empty() != smallest->without_samples.empty())
    return Measured<double>::missing("the samples of a step are known of only one of the sizes: --batch-per-gpu states them");
  return rate_of_a_gpu(row) / rate_of_a_gpu(*smallest);
}

void add_notes(GroupComparison& result) {
  const std::string reference =
      result.values.front().empty() ? "(none)" : fmt::format("\"{}\"", result.values.front());
  if (result.values.size() < 2) {
    result.notes.push_back(
        fmt::format("all runs have {} {}: there is nothing to compare", result.field, reference));
  } else if (!result.rows.empty() &&
             std::none_of(result.rows.begin(), result.rows.end(),
                          [](const GroupRow& row) { return bool(row.against_reference); })) {
    result.notes.push_back(fmt::format(
        "no case was run with {} {} and with another one: ratios need equal cases", result.field, reference));
  }
  std::set<std::uint32_t> provenances;
  for (const GroupRow& row : result.rows) provenances.insert(row.provenance.bits());
  if (provenances.size() > 1) result.notes.push_back("provenances are mixed: see the column of each row");
  const bool unproved =
      std::find(result.values.begin(), result.values.end(), kNotProved) != result.values.end();
  if (result.field == "network" && unproved) {
    result.notes.push_back(
        "runs whose transport was not proved are marked \"not proved\", whatever was asked for");
  }
}

void require_field(const std::string& field) {
  if (is_run_field(field)) return;
  throw Error(ErrorCode::kBadInput, fmt::format("runs cannot be compared by \"{}\"; {}", field, fields_instead_of(field)));
}

}  // namespace

GroupComparison compare_by(const store::RunStore& store, std::span<const store::RunRecord> runs,
                           const std::string& field, const std::string& reference) {
  require_field(field);
  GroupComparison result;
  result.field = field;
  std::vector<store::RunRecord> oldest_first(runs.begin(), runs.end());
  std::stable_sort(oldest_first.begin(), oldest_first.end(),
                   [](const auto& a, const auto& b) { return a.started_wall_ns < b.started_wall_ns; });
  std::vector<RunSummary> summaries = usable_summaries(store, oldest_first, Figures::kAnything, result.notes);
  if (summaries.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("none of the {} runs gave figures", runs.size()));
  std::vector<GroupCell> cells =
      group_cells(std::move(summaries), field, reference, result.values, result.notes);
  add_group_collectives(cells, result);
  for (GroupCell& cell : cells)  // collective tests have no rate
    std::erase_if(cell.runs, [](const RunSummary& summary) { return !summary.work_per_s; });
  std::erase_if(cells, [](const GroupCell& cell) { return cell.runs.empty(); });
  for (const GroupCell& cell : cells) {
    result.rows.push_back(row_of(store, cell));
    result.rows.back().against_reference = against_reference(store, cell, cells, result.values.front());
  }
  for (std::size_t i = 0; i < cells.size(); ++i) result.rows[i].efficiency = efficiency_of(i, cells, result);
  add_notes(result);
  return result;
}

}  // namespace ddbench::analyzer
