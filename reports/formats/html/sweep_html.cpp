#include <set>

#include "reports/formats/html/html.h"
#include "reports/formats/html/page.h"
#include "reports/tables/next_steps.h"
#include "reports/tables/sweep_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

std::vector<std::string> badges_of(const SweepReport& report) {
  std::set<std::uint32_t> provenances;
  for (const analyzer::ScalingRow& row : report.table.rows) provenances.insert(row.provenance.bits());
  std::vector<std::string> badges;
  for (const std::uint32_t bits : provenances)
    badges.push_back("provenance: " + provenance_in_words(ProvenanceSet::from_bits(bits)));
  if (report.runs.empty()) return badges;
  badges.push_back(utc_time(report.runs.front().run.started_wall_ns) + " to " +
                   utc_time(report.runs.back().run.started_wall_ns) + " UTC");
  std::set<std::string> tags;
  for (const analyzer::RunSummary& run : report.runs) {
    for (const auto& [key, value] : run.run.run_case.tags) tags.insert(key + "=" + value);
  }
  badges.insert(badges.end(), tags.begin(), tags.end());
  return badges;
}

}  // namespace

std::string sweep_html(const SweepReport& report, const PageLinks* links) {
  html::Page page("ddbench sweep report", sweep_title(report), sweep_subtitle(report), links);
  page.navigation({{"all runs", ""}});
  page.badges(badges_of(report));
  page.alarms(sweep_alarms(report));
  page.tiles(sweep_tiles(report));
  page.verdict(sweep_verdict(report));
  page.notes(report.table.notes);
  if (!report.figures.empty()) page.heading("Charts");
  page.figures(report.figures);
  page.heading("Tables");
  page.table(scaling_data(report.table));
  page.table(runs_data(report.runs));
  if (!report.runs.empty()) page.folded_table(environment_data(report.runs.back().run));
  page.table(next_steps_data(report));
  return page.finish();
}

}  // namespace ddbench::reports
