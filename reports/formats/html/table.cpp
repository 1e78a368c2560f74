#include "reports/formats/html/table.h"

#include <fmt/format.h>

#include "reports/text/safe_text.h"

namespace ddbench::reports::html {
namespace {

std::string_view tone_class(CellTone tone) {
  switch (tone) {
    case CellTone::kFaint: return "faint";
    case CellTone::kStrong: return "strong";
    case CellTone::kGood: return "good";
    case CellTone::kWarning: return "warning";
    case CellTone::kBad: return "bad";
    default: return "";
  }
}

std::string class_attribute(const DataCell& cell, bool numeric) {
  // Longer texts are wrapped; identifiers (a run's id has 24 characters) only when they are longer still.
  const std::size_t longest = cell.is_code ? 32 : 22;
  std::string classes = numeric ? "n" : cell.text.size() > longest ? "long" : "";
  if (const std::string_view tone = tone_class(cell.tone); !tone.empty()) {
    if (!classes.empty()) classes += ' ';
    classes += tone;
  }
  return classes.empty() ? classes : fmt::format(" class=\"{}\"", classes);
}

std::string cell_markup(const DataCell& cell, const DataColumn& column, bool heads_row, const PageLinks* links) {
  std::string attributes = class_attribute(cell, column.numeric);
  if (cell.sort_by) attributes += fmt::format(" data-v=\"{:.9g}\"", *cell.sort_by);
  if (!cell.why.empty()) attributes += fmt::format(" title=\"{}\"", html_text(cell.why));
  std::string text = html_text(cell.text);
  if (cell.is_code && !text.empty()) text = "<code>" + text + "</code>";
  if (links != nullptr && !cell.page.empty()) text = fmt::format("<a href=\"{}{}\">{}</a>", html_text(links->root), html_text(cell.page), text);
  return heads_row ? fmt::format("<th scope=\"row\"{}>{}</th>", attributes, text)
                   : fmt::format("<td{}>{}</td>", attributes, text);
}

std::string row_markup(const std::vector<DataCell>& cells, const std::vector<DataColumn>& columns, const PageLinks* links) {
  std::string markup = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) markup += cell_markup(cells[i], columns[i], i == 0, links);
  return markup + "</tr>\n";
}

}  // namespace

std::string table_markup(const DataTable& table, const PageLinks* links) {
  std::string markup = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"{0}\"><table><caption><span>{0}</span>{1}</caption><thead><tr>",
      html_text(table.caption), table.detail.empty() ? "" : "<small>" + html_text(table.detail) + "</small>");
  for (const DataColumn& column : table.columns) {
    markup +=
        fmt::format("<th scope=\"col\"{}{}>{}</th>", column.numeric ? " class=\"n\"" : "",
                    column.meaning.empty() ? "" : fmt::format(" title=\"{}\"", html_text(column.meaning)),
                    html_text(column.title));
  }
  markup += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) markup += row_markup(row, table.columns, links);
  markup += "</tbody>";
  if (table.total) markup += "<tfoot>" + row_markup(*table.total, table.columns, links) + "</tfoot>";
  markup += "</table>";
  for (const std::string& note : table.notes) markup += "<small>" + html_text(note) + "</small>";
  return markup + "</div>";
}

}  // namespace ddbench::reports::html
