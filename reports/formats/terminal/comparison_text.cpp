#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {

std::string comparison_text(const analyzer::Comparison& comparison, const TextStyle& style) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  std::string text = fitted("A: " + visible(side_in_words(comparison.a)), width) + "\n" +
                     fitted("B: " + visible(side_in_words(comparison.b)), width) + "\n";
  const bool plain = comparison.verdict == analyzer::ComparisonVerdict::kRepetitions ||
                     comparison.verdict == analyzer::ComparisonVerdict::kOneChange;
  for (const std::string& line : wrapped(visible(comparison.verdict_text), width))
    text += paint(plain ? Tone::kStrong : Tone::kWarning, line) + "\n";
  for (const DataTable& table : comparison_tables(comparison)) text += "\n" + data_table_text(table, paint, width);
  if (const std::string notes = notes_section(comparison.notes, paint, width); !notes.empty())
    text += "\n" + notes;
  return text;
}

}  // namespace ddbench::reports
