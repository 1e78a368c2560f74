#include "reports/tables/report.h"

#include <algorithm>
#include <utility>

#include "analyzer/diagnose/diagnose_run.h"
#include "analyzer/run/run_figures.h"
#include "analyzer/scaling/sweep_figures.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "reports/tables/next_steps.h"
#include "reports/tables/sweep_content.h"

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

std::optional<analyzer::MicroTable> measurements_of_micro(const store::RunStore& store, const store::RunRecord& run) {
  if (!is_micro(run.run_case)) return std::nullopt;
  try {
    return analyzer::micro_table(store, run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    return std::nullopt;
  }
}

RunReport run_report(const store::RunStore& store, const store::RunId& id, const std::string& db) {
  RunReport report;
  report.db = db;
  report.summary = analyzer::summarize(store, id);
  const RunSummary& summary = report.summary;
  report.micro = measurements_of_micro(store, summary.run);
  report.diagnosis = analyzer::diagnose_run(store, id);
  report.advice = analyzer::advice_of(store, summary.run);
  if (report.advice) {
    report.path = analyzer::critical_path_of(store, summary.run);
    report.prediction = prediction_options(store, summary.run);
  }
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

SweepReport sweep_report(const store::RunStore& store, const std::string& sweep_id, const std::string& db) {
  SweepReport report;
  report.db = db;
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
  if (const analyzer::ScalingRow* largest = analyzer::largest_compared(report.table)) {
    Figure figure = analyzer::waterfall_figure(report.table, *largest);
    figure.notes.push_back("case: " + largest_case_in_words(report.table, *largest));
    add_figure(report.figures, std::move(figure), notes);
  }
  return report;
}

}  // namespace ddbench::reports
