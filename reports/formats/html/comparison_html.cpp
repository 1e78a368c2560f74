#include "reports/formats/html/html.h"
#include "reports/formats/html/page.h"
#include "reports/tables/analysis/analysis_tables.h"

namespace ddbench::reports {

std::string comparison_html(const analyzer::Comparison& comparison, const PageLinks* links) {
  html::Page page("ddbench comparison", comparison.a.meaning + " and " + comparison.b.meaning, "B over A: below 1, B is smaller", links);
  page.navigation({{"all runs", ""}});
  page.badges({"A: " + side_in_words(comparison.a), "B: " + side_in_words(comparison.b)});
  page.verdict(comparison.verdict_text);
  page.notes(comparison.notes);
  page.heading("Charts");
  page.figures({analyzer::comparison_figure(comparison)});
  page.heading("Tables");
  for (const DataTable& table : comparison_tables(comparison)) page.table(table);
  return page.finish();
}

}  // namespace ddbench::reports
