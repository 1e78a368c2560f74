#include <algorithm>

#include "reports/formats/html/html.h"
#include "reports/formats/html/page.h"
#include "reports/tables/sweep_content.h"

namespace ddbench::reports {

std::string run_list_html(const RunListPage& list, const PageLinks& links) {
  html::Page page("ddbench", "Runs", list.store, &links);
  page.alarms(list.alarms);
  page.form("", "Show", list.filters);
  if (list.runs.empty()) page.verdict("No run matches.");
  if (const std::string part = part_of_list(list.runs.size(), list.all); !part.empty())
    page.verdict(part + ". 0 in the field \"newest runs\" shows all");
  page.table(sweeps_data(list.runs));
  page.table(runs_data(list.runs));
  if (list.runs.size() > 1) {
    page.heading("Compare");
    page.form("compare", "Compare", {{"a", "A: run, sweep, name or baseline", list.runs[1].run.id}, {"b", "B", list.runs[0].run.id}});
  }
  return page.finish();
}

std::string message_html(const std::string& title, const std::string& message, const PageLinks& links) {
  html::Page page("ddbench", title, "", &links);
  page.navigation({{"all runs", ""}});
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    page.verdict(message.substr(begin, end - begin));
    begin = end + 1;
  }
  return page.finish();
}

}  // namespace ddbench::reports
