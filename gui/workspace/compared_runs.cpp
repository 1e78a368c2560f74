#include "gui/workspace/compared_runs.h"

#include <algorithm>
#include <span>

#include "analyzer/comparison/compare.h"
#include "analyzer/run/run_measures.h"
#include "analyzer/scaling/run_set_figures.h"
#include "gui/models/run_list.h"
#include "reports/tables/analysis/analysis_tables.h"

namespace ddbench::gui {
namespace {

ComparedRuns two_runs(JobContext& context, const store::RunRecord& a, const store::RunRecord& b) {
  const auto side = [](const store::RunRecord& run) {
    return analyzer::ComparedSide{analyzer::short_label(run) + " (" + run.id.substr(run.id.size() - std::min<std::size_t>(run.id.size(), 4)) + ")",
                                  {run}};
  };
  const analyzer::Comparison comparison = analyzer::compare_runs(context.store(), side(a), side(b));
  ComparedRuns result;
  result.title = QStringLiteral("%1  against  %2")
                     .arg(QString::fromStdString(analyzer::short_label(b)),
                          QString::fromStdString(analyzer::short_label(a)));
  result.about = QString::fromStdString(comparison.verdict_text);
  result.table = reports::compared_data("", comparison.figures, comparison.figures.size());
  result.table.columns[1].title += ": " + analyzer::short_label(a);
  result.table.columns[2].title += ": " + analyzer::short_label(b);
  for (std::vector<reports::DataCell>& row : reports::compared_parts_data(comparison).rows) {
    row.front().text.insert(0, "part: ");
    result.table.rows.push_back(std::move(row));
  }
  for (const FieldDifference& difference : comparison.differences) {
    if (!is_asked_for(difference.role)) continue;
    result.table.rows.push_back({reports::text_cell("set: " + difference.field), reports::text_cell(difference.a.empty() ? "–" : difference.a),
                                 reports::text_cell(difference.b.empty() ? "–" : difference.b), reports::text_cell("")});
  }
  result.figure = analyzer::comparison_figure(comparison);
  return result;
}

std::vector<reports::DataCell> row_of(const analyzer::RunSummary& summary, const std::string& label) {
  const analyzer::RunMeasures measures = analyzer::measure_run(summary);
  std::vector<reports::DataCell> row{reports::code_cell(label)};
  row.front().why = summary.run.id;
  for (const analyzer::RunMetric metric : analyzer::all_run_metrics()) {
    if (metric == analyzer::RunMetric::kEfficiency) {
      row.push_back(summary.efficiency ? reports::efficiency_cell(summary.efficiency->value)
                                       : reports::missing_cell(summary.efficiency.reason()));
    } else {
      row.push_back(reports::quantity_cell(measures[metric], analyzer::unit_of(metric)));
    }
  }
  row.push_back(reports::provenance_cell(summary.run.provenance));
  return row;
}

}  // namespace

ComparedRuns compare_chosen(JobContext& context, const std::vector<store::RunRecord>& runs) {
  const bool both_done = runs.size() == 2 && std::all_of(runs.begin(), runs.end(), [](const auto& run) {
                           return run.state == store::RunState::kDone && run.valid;
                         });
  if (both_done) return two_runs(context, runs[0], runs[1]);
  ComparedRuns result;
  result.title = runs.size() == 1 ? QString::fromStdString("Run " + analyzer::short_label(runs.front()))
                                  : QStringLiteral("%1 runs side by side").arg(runs.size());
  result.table.columns = {{"run"}, {"step time", true}, {"samples/s", true}, {"efficiency", true}, {"exposed", true},
                          {"bus bandwidth", true}, {"host memory", true}, {"device memory", true}, {"provenance"}};
  const auto shown = std::span(runs).first(std::min(runs.size(), kMostComparedRuns));
  const std::vector<std::string> labels = analyzer::distinguishing_labels(shown);
  std::vector<analyzer::RunSummary> summaries;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    context.check();
    summaries.push_back(analyzer::summarize(context.store(), shown[i].id));
    result.table.rows.push_back(row_of(summaries.back(), labels[i]));
  }
  if (runs.size() > kMostComparedRuns) {
    result.about = QStringLiteral("The first %1 of them are shown.").arg(kMostComparedRuns);
  }
  if (summaries.size() == 1) {
    for (const std::string& note : summaries.front().notes) {
      result.about +=
          (result.about.isEmpty() ? QString() : QStringLiteral("\n")) + QString::fromStdString(note);
    }
  }
  result.figure = analyzer::partitions_figure(summaries);
  return result;
}

}  // namespace ddbench::gui
