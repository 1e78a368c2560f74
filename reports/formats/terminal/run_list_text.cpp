#include <algorithm>
#include <string>
#include <vector>

#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/sweep_content.h"

namespace ddbench::reports {

std::string run_list_text(const std::vector<analyzer::RunSummary>& runs, const TextStyle& style) {
  if (runs.empty()) return "no runs\n";
  DataTable table = runs_data(runs);
  table.caption.clear();
  return data_table_text(table, Paint(style.color), line_width(style), 0);
}

}  // namespace ddbench::reports
