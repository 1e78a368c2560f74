#include <fmt/format.h>

#include "reports/formats/markdown/document.h"
#include "reports/formats/markdown/markdown.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/next_steps.h"
#include "reports/tables/prediction_content.h"
#include "reports/tables/run_content.h"
#include "reports/tables/sweep_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {

namespace {

/// The tables of steps; those that a reader looks up are folded.
void write_steps(const RunReport& report, markdown::Document& document) {
  const analyzer::RunSummary& summary = report.summary;
  document.table(partition_data(summary));
  document.table(loss_data(summary));
  if (report.advice) document.table(advice_data(*report.advice, 3));
  if (const DataTable gaps = gaps_data(summary); !gaps.rows.empty()) document.folded_table(gaps);
  document.folded_table(measures_data(summary));
  document.folded_table(collectives_data(summary));
}

}  // namespace

std::string run_markdown(const RunReport& report) {
  const analyzer::RunSummary& summary = report.summary;
  const store::RunRecord& run = summary.run;
  markdown::Document document(run_title(summary));
  document.alarms(run_alarms(summary));
  if (!report.micro) document.paragraph(run_verdict(summary));
  if (report.diagnosis) document.paragraph(sentence(analyzer::verdict_in_words(*report.diagnosis)));
  document.tiles(report.micro ? micro_tiles(*report.micro) : run_tiles(summary));
  document.notes(report.micro ? report.micro->notes : run_notes(summary));
  if (report.micro) {
    for (const DataTable& table : micro_tables(*report.micro)) document.table(table);
  } else {
    write_steps(report, document);
  }
  document.folded_table(ranks_data(summary));
  document.folded_table(kernels_data(summary, 20));
  document.folded_table(case_data(run));
  document.folded_table(environment_data(run));
  document.table(next_steps_data(report));
  document.faint(fmt::format("{} · run {} · {} · provenance: {} · {} UTC", run_subtitle(summary), run.id,
                             store::to_string(run.state), provenance_in_words(run.provenance),
                             utc_time(run.started_wall_ns)));
  return document.finish();
}

std::string sweep_markdown(const SweepReport& report) {
  markdown::Document document(sweep_title(report));
  document.alarms(sweep_alarms(report));
  document.paragraph(sweep_verdict(report));
  document.tiles(sweep_tiles(report));
  document.notes(report.table.notes);
  document.table(scaling_data(report.table));
  document.folded_table(runs_data(report.runs));
  if (!report.runs.empty()) document.folded_table(environment_data(report.runs.back().run));
  document.table(next_steps_data(report));
  document.faint(sweep_subtitle(report));
  return document.finish();
}

}  // namespace ddbench::reports
