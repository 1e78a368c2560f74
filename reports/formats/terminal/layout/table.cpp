#include "reports/formats/terminal/layout/table.h"

#include <algorithm>
#include <utility>

namespace ddbench::reports {
namespace {


std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = widths.empty() ? 0 : kColumnGap * (widths.size() - 1);
  for (const std::size_t width : widths) sum += width;
  return sum;
}

}  // namespace

void Table::add_row(std::vector<TableCell> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::line(const std::vector<TableCell>& cells, const std::vector<std::size_t>& widths,
                        std::size_t indent, const Paint& paint) const {
  std::string result(indent, ' ');
  std::string pending;  // blanks are written only before more text, so that no line ends in blanks
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string text = fitted(cells[i].text, widths[i]);
    const std::string blanks(widths[i] - std::min(widths[i], display_width(text)), ' ');
    if (columns_[i].align == Align::kRight) pending += blanks;
    if (!text.empty()) {
      result += pending + paint(cells[i].tone, text);
      pending.clear();
    }
    if (columns_[i].align == Align::kLeft) pending += blanks;
    pending += std::string(kColumnGap, ' ');
  }
  if (widths.size() < columns_.size()) result += pending + "…";
  return result + "\n";
}

std::string Table::render(const Paint& paint, std::size_t indent, std::size_t width, bool keeps_columns) const {
  std::vector<std::size_t> widths = natural_widths();
  const std::size_t room = width > indent ? width - indent : 0;
  while (!keeps_columns && total(widths) > room) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool candidate = columns_[i].may_shorten && widths[i] > columns_[i].least;
      if (candidate && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  const bool all_fit = keeps_columns || total(widths) <= room;
  const std::size_t beside_ellipsis = room > kColumnGap + 1 ? room - kColumnGap - 1 : 0;
  while (!all_fit && widths.size() > 1 && total(widths) > beside_ellipsis) widths.pop_back();
  // Columns were shortened to keep others that are now left out: restore their widths.
  const std::vector<std::size_t> natural = natural_widths();
  for (std::size_t i = 0; !all_fit && i < widths.size(); ++i) {
    const std::size_t left = beside_ellipsis - std::min(beside_ellipsis, total(widths));
    widths[i] += std::min(left, natural[i] - widths[i]);
  }

  std::vector<TableCell> titles;
  bool titled = false;
  for (const TableColumn& column : columns_) {
    titles.push_back({column.title, Tone::kFaint});
    titled |= !column.title.empty();
  }
  std::string result = titled ? line(titles, widths, indent, paint) : std::string();
  for (const auto& row : rows_) result += line(row, widths, indent, paint);
  return result;
}

}  // namespace ddbench::reports
