#include <fmt/format.h>

#include <algorithm>

#include "core/run_case/program_files.h"
#include "reports/formats/gate/gate.h"
#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/tables/gate/gate_tables.h"

namespace ddbench::reports {
namespace {

using analyzer::HistorySeries;
using analyzer::LevelChange;
using analyzer::RunHistory;

std::string series_text(const HistorySeries& series, analyzer::RunMetric metric, const Paint& paint, LineWidth width) {
  std::string text = data_table_text(history_data(series, metric), paint, width);
  const DataTable changes = level_changes_data(series, metric);
  return changes.rows.empty() ? text : text + "\n" + data_table_text(changes, paint, width);
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
  const LineWidth width = line_width(style);
  std::string text;
  for (const HistorySeries& series : history.series) {
    if (series.points.empty()) continue;  // its note says why
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
