#include <fmt/format.h>

#include <algorithm>

#include "analyzer/scaling/scaling_series.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/sweep_content.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {

std::string scaling_text(const analyzer::ScalingTable& table, const TextStyle& style) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  std::string text;
  const std::string title = fmt::format("{} against {}", sentence(analyzer::kind_of_scaling(table)), visible(table.baseline));
  const std::string sweep = table.sweep_id.empty() ? "" : "sweep " + visible(table.sweep_id);
  for (const std::string& line : joined({title, sweep}, " · ", width)) {
    text += paint(Tone::kStrong, fitted(line, width)) + "\n";
  }
  DataTable rows = scaling_data(table);
  rows.caption.clear();
  rows.detail.clear();
  text += "\n" + data_table_text(rows, paint, width, 0);
  if (const std::string notes = notes_section(table.notes, paint, width); !notes.empty())
    text += "\n" + notes;
  return text;
}

}  // namespace ddbench::reports
