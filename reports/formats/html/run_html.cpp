#include <fmt/format.h>

#include "reports/formats/html/html.h"
#include "reports/formats/html/page.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/next_steps.h"
#include "reports/tables/prediction_content.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

std::vector<std::string> badges_of(const store::RunRecord& run) {
  std::vector<std::string> badges = {std::string(store::to_string(run.state)),
                                     "provenance: " + provenance_in_words(run.provenance), "run " + run.id};
  if (const std::string start = utc_time(run.started_wall_ns); !start.empty())
    badges.push_back(start + " UTC");
  if (!run.sweep_id.empty()) badges.push_back(sweep_in_words(run.sweep_id));
  for (const auto& [key, value] : run.run_case.tags) badges.push_back(key + "=" + value);
  return badges;
}

std::vector<html::Page::Link> pages_beside(const store::RunRecord& run) {
  std::vector<html::Page::Link> pages = {{"all runs", ""}};
  if (!run.sweep_id.empty()) pages.push_back({"its sweep", "sweep/" + url_segment(run.sweep_id)});
  if (!run.baseline_id.empty()) {
    pages.push_back({"its baseline", "run/" + url_segment(run.baseline_id)});
    pages.push_back({"compared with its baseline", fmt::format("compare?a={}&b={}", url_segment(run.baseline_id), run.id)});
  }
  return pages;
}

/// The tables of steps.
void write_steps(const RunReport& report, html::Page& page) {
  const analyzer::RunSummary& summary = report.summary;
  if (report.advice) page.table(advice_data(*report.advice));
  if (report.path) page.folded_table(path_data(*report.path));
  page.table(partition_data(summary));
  if (const DataTable loss = loss_data(summary); !loss.rows.empty()) page.table(loss);
  if (const DataTable gaps = gaps_data(summary); !gaps.rows.empty()) page.table(gaps);
  page.table(measures_data(summary));
  page.table(collectives_data(summary));
}

}  // namespace

std::string run_html(const RunReport& report, const PageLinks* links) {
  const analyzer::RunSummary& summary = report.summary;
  html::Page page("ddbench run report", run_title(summary), run_subtitle(summary), links);
  page.navigation(pages_beside(summary.run));
  page.badges(badges_of(summary.run));
  page.alarms(run_alarms(summary));
  page.tiles(report.micro ? micro_tiles(*report.micro) : run_tiles(summary));
  if (!report.micro) page.verdict(run_verdict(summary));
  if (report.diagnosis) page.verdict(sentence(analyzer::verdict_in_words(*report.diagnosis)));
  page.notes(report.micro ? report.micro->notes : run_notes(summary));
  if (!report.figures.empty()) page.heading("Charts");
  page.figures(report.figures);
  page.heading("Tables");
  if (report.micro) {
    for (const DataTable& table : micro_tables(*report.micro)) page.table(table);
  } else {
    write_steps(report, page);
  }
  page.table(ranks_data(summary));
  page.folded_table(kernels_data(summary));
  page.folded_table(case_data(summary.run));
  page.folded_table(environment_data(summary.run));
  page.table(next_steps_data(report));
  return page.finish();
}

}  // namespace ddbench::reports
