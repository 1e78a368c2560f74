#include <fmt/format.h>

#include "core/text/quantity.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/analysis/columns.h"
#include "reports/tables/sku_data.h"

namespace ddbench::reports {
namespace {

using analyzer::CostRow;
using analyzer::CostTable;
using analyzer::GroupCollective;
using analyzer::GroupComparison;
using analyzer::GroupRow;

constexpr auto kHasVariant = [](const auto& row) { return !row.variant.empty(); };

DataCell against_reference(const GroupComparison& groups, const auto& row) {
  if (row.value == groups.values.front()) return text_cell("reference", CellTone::kFaint);
  return ratio_cell(row.against_reference);
}

DataCell value_of_field(const std::string& value) {
  return code_cell(value.empty() ? "(none)" : value);
}

}  // namespace

DataTable groups_data(const GroupComparison& groups) {
  TableOf<GroupRow> table;
  NumberedTexts cases("case");
  table.add(true, {"GPUs", true}, [](const GroupRow& row) { return count_cell(row.world_size); });
  table.add(true, {"nodes", true}, [](const GroupRow& row) { return nodes_cell(row.run_case); });
  table.add(true, {.title = groups.field, .is_prose = true}, [](const GroupRow& row) { return value_of_field(row.value); });
  table.add(any_row(groups.rows, kHasVariant), {"case"}, [&cases](const GroupRow& row) { return cases.cell(row.variant); });
  table.add(true, {"samples/s", true}, [](const GroupRow& row) { return rate_cell(row.samples_per_s, row.without_samples, row.world_size); });
  table.add(true, {"over the reference"}, [&groups](const GroupRow& row) { return against_reference(groups, row); });
  table.add(true, {"efficiency", true, "against the smallest size"}, [](const GroupRow& row) { return percent_cell(row.efficiency); });
  table.add(true, {"exposed", true, "communication not hidden behind compute, share of the step time"},
            [](const GroupRow& row) { return percent_cell(row.exposed_share); });
  table.add(true, {"step time", true}, [](const GroupRow& row) { return quantity_cell(row.step_time_ns, "ns"); });
  table.add(true, {"runs", true}, [](const GroupRow& row) { return count_cell(static_cast<std::int64_t>(row.runs.size())); });
  table.add(true, {.title = "provenance", .brief = "prov."}, [](const GroupRow& row) { return provenance_cell(row.provenance); });
  DataTable data = std::move(table).of(groups.rows);
  shorten_names(data, 2);
  data.legend.push_back(provenance_legend_of(groups.rows));
  cases.explain(data.legend);
  data.notes = {"efficiency: against the smallest size"};
  return data;
}

DataTable group_collectives_data(const GroupComparison& groups) {
  TableOf<GroupCollective> table;
  table.add(true, {"function"}, [](const GroupCollective& row) { return code_cell(row.function); });
  table.add(true, {"ranks", true}, [](const GroupCollective& row) { return row.ranks == 0 ? missing_cell("the size of the communicator is not known") : count_cell(row.ranks); });
  table.add(any_row(groups.collectives, kHasVariant), {.title = "where", .is_prose = true},
            [](const GroupCollective& row) { return text_cell(row.variant); });
  table.add(true, {"size", true}, [](const GroupCollective& row) { return quantity_cell(static_cast<double>(row.bytes), "B"); });
  table.add(true, {.title = groups.field, .is_prose = true}, [](const GroupCollective& row) { return value_of_field(row.value); });
  table.add(true, {"transfer", true}, [](const GroupCollective& row) { return time_cell(row.transfer_ns); });
  table.add(true, {.title = "bus bandwidth", .numeric = true, .brief = "busbw"}, [](const GroupCollective& row) {
    return row.busbw_gb_per_s ? quantity_cell(*row.busbw_gb_per_s * 1e9, "B/s") : missing_cell(row.busbw_gb_per_s.reason());
  });
  table.add(true, {"over the reference"}, [&groups](const GroupCollective& row) { return against_reference(groups, row); });
  const std::size_t value_column = any_row(groups.collectives, kHasVariant) ? 4 : 3;
  DataTable data = std::move(table).of(groups.collectives);
  shorten_names(data, value_column);
  data.caption = "Collectives";
  return data;
}

DataTable costs_data(const CostTable& costs) {
  const CostRow* cheapest = costs.cheapest_in_time >= 0 ? &costs.rows[static_cast<std::size_t>(costs.cheapest_in_time)] : nullptr;
  TableOf<CostRow> table;
  table.add(true, {"offer"}, [](const CostRow& row) { return text_cell(row.offer.label); });
  table.add(any_row(costs.rows, [](const CostRow& row) { return !row.offer.settings.empty(); }), {"settings"},
            [](const CostRow& row) { return code_cell(row.offer.settings); });
  table.add(true, {"USD/h", true}, [](const CostRow& row) { return usd_cell(row.usd_per_h); });
  table.add(true, {"USD a million samples", true}, [](const CostRow& row) {
    const auto& million = row.usd_per_million_samples;
    return million ? usd_cell(million->value, 4) : missing_cell(million.reason());
  });
  table.add(true, {"95% CI"}, [](const CostRow& row) {
    const auto& million = row.usd_per_million_samples;
    if (!million) return missing_cell(million.reason());
    return million->interval ? interval_cell(*million->interval, "1") : missing_cell(million->interval.reason());
  });
  table.add(any_row(costs.rows, [](const CostRow& row) { return bool(row.usd_per_epoch); }), {"USD an epoch", true},
            [](const CostRow& row) { return usd_cell(row.usd_per_epoch); });
  const bool has_amount = any_row(costs.rows, [](const CostRow& row) { return bool(row.hours); });
  table.add(has_amount, {"hours", true}, [](const CostRow& row) { return quantity_cell(row.hours, "1", 4); });
  const bool has_intervals = any_row(costs.rows, [](const CostRow& row) { return bool(row.hours_interval); });
  const auto interval = [](const Measured<ConfidenceInterval>& value) {
    return value ? interval_cell(*value, "1") : missing_cell(value.reason());
  };
  table.add(has_intervals, {"hours, 95% CI"}, [=](const CostRow& row) { return interval(row.hours_interval); });
  table.add(has_amount, {"USD", true}, [](const CostRow& row) { return usd_cell(row.usd); });
  table.add(has_intervals, {"USD, 95% CI"}, [=](const CostRow& row) { return interval(row.usd_interval); });
  table.add(any_row(costs.rows, [](const CostRow& row) { return row.checkpoints.interval_s > 0; }),
            {.title = "checkpoint every", .numeric = true, .meaning = "Daly's interval", .brief = "ckpt"}, [](const CostRow& row) {
              if (!row.unplanned.empty()) return missing_cell(row.unplanned);
              return row.checkpoints.interval_s > 0 ? time_cell(row.checkpoints.interval_s * 1e9) : missing_cell("no interruptions are known (--node-mtbf-h)");
            });
  table.add(true, {"remark"}, [cheapest](const CostRow& row) {
    if (row.usd && !row.meets_deadline) return text_cell("too late", CellTone::kWarning);
    if (&row == cheapest) return text_cell("cheapest in time", CellTone::kGood);
    return text_cell(row.on_front ? "on the front" : "");
  });
  table.add(true, {.title = "price", .is_prose = true},
            [](const CostRow& row) { return text_cell(row.usd_per_h ? row.price_note : row.usd_per_h.reason(), CellTone::kFaint); });
  DataTable data = std::move(table).of(costs.rows);
  data.caption = "Cost";
  return data;
}

DataTable nodes_in_time_data(const analyzer::NodesInTime& answer) {
  struct Line {
    const char* by;
    const Measured<CostRow>* row;
  };
  const std::vector<Line> lines = {{"expected time", &answer.expected}, {"95% CI of the time", &answer.assured}};
  TableOf<Line> table;
  table.add(true, {"in time by"}, [](const Line& line) { return text_cell(line.by); });
  table.add(true, {"nodes", true}, [](const Line& line) { return *line.row ? count_cell(*(*line.row)->offer.nodes) : missing_cell(line.row->reason()); });
  table.add(true, {"GPUs", true}, [](const Line& line) { return *line.row ? count_cell((*line.row)->offer.gpus) : missing_cell(line.row->reason()); });
  table.add(true, {"hours", true}, [](const Line& line) { return *line.row ? quantity_cell((*line.row)->hours, "1", 4) : missing_cell(line.row->reason()); });
  table.add(true, {"hours, 95% CI"}, [](const Line& line) {
    if (!*line.row) return missing_cell(line.row->reason());
    const auto& interval = (*line.row)->hours_interval;
    return interval ? interval_cell(*interval, "1") : missing_cell(interval.reason());
  });
  table.add(true, {"USD", true}, [](const Line& line) { return *line.row ? usd_cell((*line.row)->usd) : missing_cell(line.row->reason()); });
  table.add(true, {.title = "how", .is_prose = true}, [](const Line& line) { return text_cell(*line.row ? (*line.row)->offer.label : line.row->reason()); });
  DataTable data = std::move(table).of(lines);
  data.caption = fmt::format("Nodes for a deadline in {:.4g} h", answer.deadline_h);
  return data;
}

}  // namespace ddbench::reports
