#include <algorithm>
#include <string>
#include <vector>

#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/sweep_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

constexpr int kWideEnough = 110;  // for whole ids beside workload and name

}  // namespace

std::string run_list_text(const std::vector<analyzer::RunSummary>& runs, const TextStyle& style, std::int64_t all) {
  if (runs.empty()) return "no runs\n";
  DataTable table = runs_data(runs);
  table.caption.clear();
  if (!style.keeps_columns && style.width < kWideEnough) {
    for (std::size_t i = 0; i < runs.size(); ++i) table.rows[i].front().brief = short_id(runs[i].run.id);
  }
  if (const std::string part = part_of_list(runs.size(), all); !part.empty()) table.notes.push_back(part + "; --limit 0 shows all");
  return data_table_text(table, Paint(style.color), line_width(style), 0);
}

}  // namespace ddbench::reports
