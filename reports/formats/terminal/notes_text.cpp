#include "reports/formats/terminal/notes_text.h"

#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/text.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {

std::string notes_section(const std::vector<std::string>& notes, const Paint& paint, std::size_t width) {
  if (notes.empty()) return {};
  std::string text = paint(Tone::kStrong, "Notes") + "\n";
  for (const std::string& note : notes) {
    std::string bullet = "  • ";
    for (const std::string& line : wrapped(visible(note), width > 4 ? width - 4 : 1)) {
      text += bullet + paint(Tone::kWarning, line) + "\n";
      bullet = "    ";
    }
  }
  return text;
}

std::string next_steps_text(const DataTable& steps, const TextStyle& style) {
  if (steps.rows.empty()) return {};
  return "\n" + data_table_text(steps, Paint(style.color), line_width(style));
}

}  // namespace ddbench::reports
