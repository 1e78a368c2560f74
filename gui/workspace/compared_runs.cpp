#include "gui/workspace/compared_runs.h"

#include <algorithm>
#include <span>

#include "analyzer/comparison/compare.h"
#include "analyzer/run/run_measures.h"
#include "analyzer/scaling/run_set_figures.h"
#include "gui/models/run_list.h"
#include "gui/tables/cells.h"
#include "reports/text/phrases.h"

namespace ddbench::gui {
namespace {

ComparedRuns two_runs(JobContext& context, const store::RunRecord& a, const store::RunRecord& b) {
  const auto side = [](const store::RunRecord& run) {
    return analyzer::ComparedSide{analyzer::short_label(run) + " (" + run.id.substr(run.id.size() - 4) + ")",
                                  {run}};
  };
  const analyzer::Comparison comparison = analyzer::compare_runs(context.store(), side(a), side(b));
  ComparedRuns result;
  result.title = QStringLiteral("%1  against  %2")
                     .arg(QString::fromStdString(analyzer::short_label(b)),
                          QString::fromStdString(analyzer::short_label(a)));
  result.about = QString::fromStdString(comparison.verdict_text);
  result.table.columns = {QStringLiteral("Figure"), QString::fromStdString("A: " + analyzer::short_label(a)),
                          QString::fromStdString("B: " + analyzer::short_label(b)),
                          QStringLiteral("B over A")};
  const auto add = [&](const std::vector<analyzer::ComparedFigure>& figures, const QString& prefix) {
    for (const analyzer::ComparedFigure& figure : figures) {
      if (!figure.a && !figure.b) continue;
      result.table.rows.push_back(
          {{prefix + QString::fromStdString(reports::part_in_words(figure.name)), {}, {}, false},
           quantity_cell(figure.a, figure.unit),
           quantity_cell(figure.b, figure.unit),
           ratio_cell(figure.ratio)});
    }
  };
  add(comparison.figures, {});
  add(comparison.parts, QStringLiteral("part: "));
  for (const FieldDifference& difference : comparison.differences) {
    if (!is_asked_for(difference.role)) continue;
    result.table.rows.push_back({{QStringLiteral("set: ") + spaced(difference.field), {}, {}, false},
                                 text_cell(difference.a.empty() ? "–" : difference.a),
                                 text_cell(difference.b.empty() ? "–" : difference.b),
                                 {}});
  }
  result.figure = analyzer::comparison_figure(comparison);
  return result;
}

std::vector<Cell> row_of(const analyzer::RunSummary& summary, const std::string& label) {
  const analyzer::RunMeasures measures = analyzer::measure_run(summary);
  std::vector<Cell> row{text_cell(label)};
  row.front().tip = QString::fromStdString(summary.run.id);
  for (const analyzer::RunMetric metric : analyzer::all_run_metrics()) {
    if (metric == analyzer::RunMetric::kEfficiency) {
      row.push_back(summary.efficiency ? percent_cell(summary.efficiency->value)
                                       : missing_cell(summary.efficiency.reason()));
    } else {
      row.push_back(quantity_cell(measures[metric], std::string(analyzer::unit_of(metric))));
    }
  }
  row.push_back(provenance_cell(summary.run.provenance));
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
  result.table.columns = {QStringLiteral("Run"),         QStringLiteral("Step time"),
                          QStringLiteral("Samples / s"), QStringLiteral("Efficiency"),
                          QStringLiteral("Exposed"),     QStringLiteral("Bus bandwidth"),
                          QStringLiteral("Peak memory"), QStringLiteral("Provenance")};
  const auto shown = std::span(runs).first(std::min(runs.size(), kMostComparedRuns));
  const std::vector<std::string> labels = analyzer::telling_labels(shown);
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
