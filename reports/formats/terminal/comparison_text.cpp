#include <fmt/format.h>

#include <algorithm>

#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::Comparison;

constexpr std::size_t kMostKernels = 12;

std::string side_in_words(const analyzer::ComparedSide& side) {
  std::string text = visible(side.meaning);
  if (side.runs.size() > 1) text += fmt::format(" ({} runs)", side.runs.size());
  const RunCase& run_case = side.runs.front().run_case;
  return text + fmt::format(" · {} · {} · {}", visible(work_name(run_case.work)), shape_in_words(side.runs.front()),
                            provenance_in_words(side.runs.front().provenance));
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const TextStyle& style) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  std::string text = fitted("A: " + side_in_words(comparison.a), width) + "\n" +
                     fitted("B: " + side_in_words(comparison.b), width) + "\n";
  const bool plain = comparison.verdict == analyzer::ComparisonVerdict::kRepetitions ||
                     comparison.verdict == analyzer::ComparisonVerdict::kOneChange;
  for (const std::string& line : wrapped(comparison.verdict_text, width))
    text += paint(plain ? Tone::kStrong : Tone::kWarning, line) + "\n";
  constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  for (const DataTable& table :
       {differences_data(comparison), compared_data("What changed", comparison.figures, kAll),
        compared_parts_data(comparison),
        compared_data("Collectives: transfer time", comparison.collectives, kAll),
        compared_data("Kernels: time a step and rank, largest change first", comparison.kernels, kMostKernels)}) {
    if (!table.rows.empty()) text += "\n" + data_table_text(table, paint, width);
  }
  if (const std::string notes = notes_section(comparison.notes, paint, width); !notes.empty())
    text += "\n" + notes;
  return text;
}

}  // namespace ddbench::reports
