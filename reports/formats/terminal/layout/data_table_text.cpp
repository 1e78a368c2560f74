#include "reports/formats/terminal/layout/data_table_text.h"

#include <utility>
#include <vector>

#include "reports/formats/terminal/layout/table.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

Tone tone_of(CellTone tone) {
  switch (tone) {
    case CellTone::kPlain: return Tone::kPlain;
    case CellTone::kFaint: return Tone::kFaint;
    case CellTone::kStrong: return Tone::kStrong;
    case CellTone::kGood: return Tone::kGood;
    case CellTone::kWarning: return Tone::kWarning;
    case CellTone::kBad: return Tone::kBad;
  }
  return Tone::kPlain;
}

std::vector<TableCell> cells_of(const std::vector<DataCell>& row) {
  std::vector<TableCell> cells;
  for (const DataCell& cell : row) cells.push_back({visible(cell.text), tone_of(cell.tone)});
  return cells;
}

}  // namespace

std::string data_table_text(const DataTable& table, const Paint& paint, std::size_t width) {
  std::string text;
  if (table.rows.empty() && table.detail.empty()) return text;
  if (!table.caption.empty()) text += paint(Tone::kStrong, fitted(visible(table.caption), width)) + "\n";
  if (!table.detail.empty()) {
    for (const std::string& line : wrapped(visible(table.detail), width - 2))
      text += "  " + paint(Tone::kFaint, line) + "\n";
  }
  if (table.rows.empty()) return text;
  std::vector<TableColumn> columns;
  bool may_shorten = true;
  for (const DataColumn& column : table.columns) {
    columns.push_back({column.title, column.numeric ? Align::kRight : Align::kLeft,
                       column.is_prose || (!column.numeric && may_shorten)});
    may_shorten = may_shorten && column.numeric;
  }
  Table lines(std::move(columns));
  for (const std::vector<DataCell>& row : table.rows) lines.add_row(cells_of(row));
  if (table.total) lines.add_row(cells_of(*table.total));
  return text + lines.render(paint, 2, width);
}

}  // namespace ddbench::reports
