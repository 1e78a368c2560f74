#include "gui/tables/regression_tables.h"

#include "core/run_case/program_files.h"
#include "gui/models/run_list.h"
#include "gui/tables/cells.h"

namespace ddbench::gui {

CellTable change_table(const analyzer::HistorySeries& series, const std::string& unit) {
  CellTable table;
  for (const char* title : {"First run after it", "When", "Before", "After", "Change", "p", "Script"}) {
    table.columns.push_back(QString::fromLatin1(title));
  }
  for (const analyzer::LevelChange& change : series.changes) {
    const analyzer::HistoryPoint& point = series.points[change.index];
    const double by = change.before > 0 ? change.after / change.before - 1 : 0;
    Cell share = percent_cell(by);
    share.text += change.worse ? QStringLiteral("  worse") : QStringLiteral("  better");
    table.rows.push_back({text_cell(point.name.empty() ? point.run : point.name + " " + point.run),
                          {date_text(point.started_wall_ns), {}, {}, false},
                          quantity_cell(change.before, unit),
                          quantity_cell(change.after, unit),
                          std::move(share),
                          number_cell(change.p_value, QString::number(change.p_value, 'f', 3)),
                          text_cell(point.edited.empty() ? "" : "changed: " + files_in_words(point.edited))});
  }
  return table;
}

CellTable metric_table(const analyzer::GateVerdict& verdict) {
  CellTable table;
  for (const char* title : {"Metric", "Outcome", "Baseline", "Candidate", "Change", "Accepted", "Why"}) {
    table.columns.push_back(QString::fromLatin1(title));
  }
  for (const analyzer::MetricVerdict& metric : verdict.metrics) {
    const std::string unit(analyzer::unit_of(metric.metric));
    const auto& estimate = metric.estimate;
    const Measured<double> none = Measured<double>::missing(metric.reason);
    table.rows.push_back(
        {{spaced(std::string(analyzer::to_string(metric.metric))), {}, {}, false},
         text_cell(metric.improved ? "pass, improved" : std::string(analyzer::to_string(metric.outcome))),
         quantity_cell(estimate ? Measured<double>(estimate->baseline) : none, unit),
         quantity_cell(estimate ? Measured<double>(estimate->candidate) : none, unit),
         estimate ? percent_interval_cell(estimate->change, estimate->change_interval)
                  : missing_cell(metric.reason),
         percent_cell(metric.threshold),
         text_cell(metric.reason)});
  }
  return table;
}

}  // namespace ddbench::gui
