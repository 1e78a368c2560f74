#include <fmt/format.h>

#include <algorithm>

#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {

std::string groups_text(const analyzer::GroupComparison& groups, const analyzer::CostTable& costs, const TextStyle& style) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  const std::string& reference = groups.values.front();
  const std::string title = fmt::format("By {}, against {}", visible(groups.field), reference.empty() ? "(none)" : visible(reference));
  std::string text = paint(Tone::kStrong, fitted(title, width)) + "\n\n" + data_table_text(groups_data(groups), paint, width, 0);
  for (const DataTable& table : {group_collectives_data(groups), fits_data(groups.fits, groups.field), costs_data(costs)}) {
    if (!table.rows.empty()) text += "\n" + data_table_text(table, paint, width);
  }
  std::vector<std::string> notes = groups.notes;
  if (!costs.rows.empty()) notes.insert(notes.end(), costs.notes.begin(), costs.notes.end());
  if (const std::string section = notes_section(notes, paint, width); !section.empty())
    text += "\n" + section;
  return text;
}

}  // namespace ddbench::reports
