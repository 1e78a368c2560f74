#include "reports/tables/report.h"

#include <algorithm>
#include <utility>

#include "analyzer/diagnose/diagnose_run.h"
#include "analyzer/run/run_figures.h"
#include "analyzer/scaling/sweep_figures.h"

namespace ddbench::reports {
namespace {

using analyzer::Figure;
using analyzer::RunSummary;

/// The run's notes are shown at the top of its report: a chart keeps only the notes that concern the chart
/// itself.
void add_figure(std::vector<Figure>& figures, Figure figure, const std::vector<std::string>& notes) {
  if (figure.series.empty()) return;
  std::erase_if(figure.notes, [&](const std::string& note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  });
  figures.push_back(std::move(figure));
}

}  // namespace

RunReport run_report(const store::RunStore& store, const store::RunId& id) {
  RunReport report;
  report.summary = analyzer::summarize(store, id);
  const RunSummary& summary = report.summary;
  report.diagnosis = analyzer::diagnose_run(store, id);
  report.advice = analyzer::advice_of(store, summary.run);
  if (report.advice) report.path = analyzer::critical_path_of(store, summary.run);
  const std::vector<store::StepRecord> steps = store.steps(id);
  if (summary.probed_steps > 0)
    add_figure(report.figures, analyzer::partition_figure(summary), summary.notes);
  if (summary.efficiency) add_figure(report.figures, analyzer::waterfall_figure(summary), summary.notes);
  add_figure(report.figures, analyzer::step_time_figure(summary, steps), summary.notes);
  if (summary.ranks.size() > 1)
    add_figure(report.figures, analyzer::rank_partition_figure(summary, steps), summary.notes);
  add_figure(report.figures, analyzer::bus_bandwidth_figure(summary), summary.notes);
  add_figure(report.figures, analyzer::loss_figure(summary, steps), summary.notes);
  return report;
}

SweepReport sweep_report(const store::RunStore& store, const std::string& sweep_id) {
  SweepReport report;
  report.table = analyzer::scaling_table(store, sweep_id);
  store::Query query;
  query.sweep_id = sweep_id;
  for (const store::RunRecord& run : store.runs(query))
    report.runs.push_back(analyzer::summarize(store, run.id));
  std::reverse(report.runs.begin(), report.runs.end());
  const std::vector<std::string>& notes = report.table.notes;
  add_figure(report.figures, analyzer::scaling_efficiency(report.table), notes);
  add_figure(report.figures, analyzer::speedup_figure(report.table), notes);
  add_figure(report.figures, analyzer::case_partition_figure(report.table, report.runs), notes);
  if (const analyzer::ScalingRow* largest = analyzer::largest_compared(report.table))
    add_figure(report.figures, analyzer::waterfall_figure(report.table, *largest), notes);
  return report;
}

}  // namespace ddbench::reports
