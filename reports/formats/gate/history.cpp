#include <fmt/format.h>

#include <algorithm>

#include "core/run_case/program_files.h"
#include "reports/formats/gate/gate.h"
#include "reports/formats/gate/gate_words.h"
#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::HistorySeries;
using analyzer::LevelChange;
using analyzer::RunHistory;

const LevelChange* change_at(const HistorySeries& series, std::size_t index) {
  const auto found = std::find_if(series.changes.begin(), series.changes.end(),
                                  [&](const LevelChange& change) { return change.index == index; });
  return found == series.changes.end() ? nullptr : &*found;
}

/// "worse by +20.0%: 34.0 ms → 40.8 ms since run 2026... (p = 0.001)"
std::string change_in_words(const HistorySeries& series, const LevelChange& change,
                            analyzer::RunMetric metric) {
  const std::vector<std::string>& edited = series.points[change.index].edited;
  const std::string script = edited.empty() ? "" : ", whose script changed: " + visible(files_in_words(edited));
  return fmt::format("{} by {}: {} → {} since run {}{} (p = {:.3f})", change.worse ? "worse" : "better",
                     signed_percent(change.after / change.before - 1), metric_value(metric, change.before),
                     metric_value(metric, change.after), visible(series.points[change.index].run),
                     script, change.p_value);
}

std::string series_text(const HistorySeries& series, analyzer::RunMetric metric, const Paint& paint,
                        std::size_t width) {
  std::vector<TableColumn> columns = {
               {"run", Align::kLeft},
               {"started (UTC)", Align::kLeft},
               {std::string(to_string(metric))},
               {"level", Align::kLeft},
               {"name", Align::kLeft, true}};
  const bool edits = std::any_of(series.points.begin(), series.points.end(), [](const auto& point) { return !point.edited.empty(); });
  if (edits) columns.push_back({"script", Align::kLeft, true});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const analyzer::HistoryPoint& point = series.points[i];
    TableCell level;
    if (const LevelChange* change = change_at(series, i)) {
      level = change->worse ? TableCell{"worse", Tone::kBad} : TableCell{"better", Tone::kGood};
    }
    std::vector<TableCell> row = {{visible(point.run)},
                                  {utc_time(point.started_wall_ns)},
                                  {metric_value(metric, point.value)},
                                  level,
                                  {visible(point.name)}};
    if (edits) row.push_back({point.edited.empty() ? "" : "changed: " + visible(files_in_words(point.edited)), Tone::kWarning});
    table.add_row(std::move(row));
  }
  std::string text =
      paint(Tone::kStrong, fitted(visible(series.label), width)) + "\n" + table.render(paint, 2, width);
  for (const LevelChange& change : series.changes) {
    for (const std::string& line : wrapped(change_in_words(series, change, metric), width - 2)) {
      text += "  " + paint(change.worse ? Tone::kBad : Tone::kGood, line) + "\n";
    }
  }
  return text;
}

Json series_json(const HistorySeries& series) {
  Json json = {{"label", series.label},
               {"provenance", names_json(series.provenance)},
               {"points", Json::array()},
               {"changes", Json::array()},
               {"unmeasured", series.unmeasured}};
  for (const analyzer::HistoryPoint& point : series.points) {
    json["points"].push_back({{"run", point.run},
                              {"name", point.name},
                              {"started", time_json(point.started_wall_ns)},
                              {"value", point.value},
                              {"edited", point.edited}});
  }
  for (const LevelChange& change : series.changes) {
    json["changes"].push_back({{"index", change.index},
                               {"run", series.points[change.index].run},
                               {"before", change.before},
                               {"after", change.after},
                               {"worse", change.worse},
                               {"p_value", change.p_value}});
  }
  return json;
}

}  // namespace

std::string history_text(const RunHistory& history, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  std::string text;
  for (const HistorySeries& series : history.series) {
    if (!text.empty()) text += "\n";
    text += series_text(series, history.metric, paint, width);
  }
  const std::string notes = notes_section(history.notes, paint, width);
  return text + (text.empty() || notes.empty() ? "" : "\n") + notes;
}

std::string history_json(const RunHistory& history) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"metric", std::string(to_string(history.metric))},
               {"unit", std::string(unit_of(history.metric))},
               {"series", Json::array()},
               {"notes", history.notes}};
  for (const HistorySeries& series : history.series) json["series"].push_back(series_json(series));
  return dumped(json);
}

}  // namespace ddbench::reports
