#include "reports/tables/gate/gate_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run_case/program_files.h"
#include "core/text/quantity.h"
#include "reports/tables/gate/gate_words.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using analyzer::HistoryPoint;
using analyzer::HistorySeries;
using analyzer::LevelChange;
using analyzer::MetricVerdict;

CellTone tone_of(analyzer::GateOutcome outcome) {
  switch (outcome) {
    case analyzer::GateOutcome::kPass: return CellTone::kGood;
    case analyzer::GateOutcome::kRegression: return CellTone::kBad;
    case analyzer::GateOutcome::kInconclusive: break;
  }
  return CellTone::kWarning;
}

/// A cell of the estimate; if it is missing, a dash and the reason.
template <typename MakeCell>
std::function<DataCell(const MetricVerdict&)> estimated(MakeCell make) {
  return [make](const MetricVerdict& row) { return row.estimate ? make(row, *row.estimate) : missing_cell(row.reason); };
}

DataCell edited_cell(const HistoryPoint& point) {
  return text_cell(point.edited.empty() ? "" : "changed: " + files_in_words(point.edited), CellTone::kWarning);
}

}  // namespace

DataTable metrics_data(const analyzer::GateVerdict& verdict) {
  using Estimate = MetricVerdict::Estimate;
  TableOf<MetricVerdict> table;
  table.add(true, {"metric"}, [](const MetricVerdict& row) { return code_cell(std::string(to_string(row.metric))); });
  table.add(true, {"baseline", true}, estimated([](const MetricVerdict& row, const Estimate& estimate) {
              return value_cell(estimate.baseline, metric_value(row.metric, estimate.baseline));
            }));
  table.add(true, {"candidate", true}, estimated([](const MetricVerdict& row, const Estimate& estimate) {
              return value_cell(estimate.candidate, metric_value(row.metric, estimate.candidate));
            }));
  table.add(true, {"change", true}, estimated([](const MetricVerdict&, const Estimate& estimate) {
              return value_cell(estimate.change, signed_percent(estimate.change), CellTone::kStrong);
            }));
  table.add(true, {"95% CI", true}, estimated([](const MetricVerdict&, const Estimate& estimate) {
              const ConfidenceInterval& interval = estimate.change_interval;
              DataCell cell = value_cell(interval.low, signed_percent(interval.low) + " to " + signed_percent(interval.high));
              cell.why = interval.method;
              return cell;
            }));
  table.add(true, {"threshold", true}, [](const MetricVerdict& row) { return value_cell(row.threshold, threshold_in_words(row.threshold)); });
  table.add(true, {"detectable", true, "the smallest change for the worse that such runs show in 80 of 100 comparisons"},
            estimated([](const MetricVerdict&, const Estimate& estimate) {
              return value_cell(estimate.detectable_change, signed_percent(estimate.detectable_change));
            }));
  table.add(true, {"verdict"}, [](const MetricVerdict& row) {
    DataCell cell = text_cell(metric_outcome_in_words(row), tone_of(row.outcome));
    cell.why = row.reason;
    return cell;
  });
  return std::move(table).of(verdict.metrics);
}

DataTable history_data(const HistorySeries& series, analyzer::RunMetric metric) {
  TableOf<HistoryPoint> table;
  const bool edits = std::any_of(series.points.begin(), series.points.end(), [](const auto& point) { return !point.edited.empty(); });
  const auto level_cell = [&series](const HistoryPoint& point) {
    const auto index = static_cast<std::size_t>(&point - series.points.data());
    const auto found = std::find_if(series.changes.begin(), series.changes.end(), [&](const LevelChange& change) { return change.index == index; });
    if (found == series.changes.end()) return text_cell("");
    return found->worse ? text_cell("worse", CellTone::kBad) : text_cell("better", CellTone::kGood);
  };
  table.add(true, {"run"}, [](const HistoryPoint& point) { return code_cell(point.run); });
  table.add(true, {"started (UTC)"}, [](const HistoryPoint& point) { return text_cell(utc_time(point.started_wall_ns)); });
  table.add(true, {part_in_words(to_string(metric)), true},
            [metric](const HistoryPoint& point) { return value_cell(point.value, metric_value(metric, point.value)); });
  table.add(true, {"level"}, level_cell);
  table.add(true, {.title = "name", .is_prose = true}, [](const HistoryPoint& point) { return code_cell(point.name); });
  table.add(edits, {.title = "script", .is_prose = true}, edited_cell);
  DataTable data = std::move(table).of(series.points);
  data.caption = series.label;
  return data;
}

DataTable level_changes_data(const HistorySeries& series, analyzer::RunMetric metric) {
  TableOf<LevelChange> table;
  const auto point_of = [&series](const LevelChange& change) -> const HistoryPoint& { return series.points[change.index]; };
  table.add(true, {"since run"}, [=](const LevelChange& change) { return code_cell(point_of(change).run); });
  table.add(true, {"change", true}, [](const LevelChange& change) {
    const char* way = change.worse ? "worse" : "better";
    const CellTone tone = change.worse ? CellTone::kBad : CellTone::kGood;
    if (!(change.before > 0)) return text_cell(way, tone);  // it was 0
    const double share = change.after / change.before - 1;
    return value_cell(share, fmt::format("{} {}", signed_percent(share), way), tone);
  });
  table.add(true, {"before", true}, [=](const LevelChange& change) { return value_cell(change.before, metric_value(metric, change.before)); });
  table.add(true, {"after", true}, [=](const LevelChange& change) { return value_cell(change.after, metric_value(metric, change.after)); });
  table.add(true, {"p-value", true},
            [](const LevelChange& change) { return value_cell(change.p_value, fmt::format("{:.3f}", change.p_value)); });
  table.add(true, {"started (UTC)"}, [=](const LevelChange& change) { return text_cell(utc_time(point_of(change).started_wall_ns)); });
  const auto any = [&](auto has) { return any_row(series.changes, [&](const LevelChange& change) { return has(point_of(change)); }); };
  table.add(any([](const HistoryPoint& point) { return !point.name.empty(); }), {.title = "name", .is_prose = true},
            [=](const LevelChange& change) { return code_cell(point_of(change).name); });
  const bool edits = any([](const HistoryPoint& point) { return !point.edited.empty(); });
  table.add(edits, {.title = "script", .is_prose = true}, [=](const LevelChange& change) { return edited_cell(point_of(change)); });
  DataTable data = std::move(table).of(series.changes);
  data.caption = "Changes of level";
  return data;
}

DataTable baselines_data(const std::vector<store::NamedBaseline>& baselines) {
  using store::NamedBaseline;
  TableOf<NamedBaseline> table;
  table.add(true, {"baseline"}, [](const NamedBaseline& row) { return code_cell(row.name); });
  table.add(true, {"version", true}, [](const NamedBaseline& row) { return count_cell(row.version); });
  table.add(true, {"set (UTC)"}, [](const NamedBaseline& row) { return text_cell(utc_time(row.created_wall_ns)); });
  table.add(true, {"runs", true}, [](const NamedBaseline& row) { return count_cell(static_cast<std::int64_t>(row.runs.size())); });
  table.add(true, {.title = "reference", .is_prose = true}, [](const NamedBaseline& row) { return text_cell(row.reference); });
  return std::move(table).of(baselines);
}

}  // namespace ddbench::reports
