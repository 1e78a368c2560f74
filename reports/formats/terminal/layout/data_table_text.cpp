#include "reports/formats/terminal/layout/data_table_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "reports/formats/terminal/layout/bars.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

constexpr std::size_t kWidestBar = 44;
constexpr std::size_t kNarrowestProse = 16;

std::string shown(const DataCell& cell) {
  return visible(cell.brief.empty() ? cell.text : cell.brief);
}

std::string shown(const DataColumn& column) {
  return visible(column.brief.empty() ? column.title : column.brief);
}

/// Converts the rows of a DataTable to those of a Table, and adds a column of bars after the column whose
/// cells have them.
class TableText {
 public:
  TableText(const DataTable& table, const Paint& paint, LineWidth width, std::size_t indent)
      : table_(table), paint_(paint), width_(width), keeps_columns_(width.keeps_columns), indent_(indent) {
    find_bars();
    widths_.resize(table.columns.size());
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      widths_[i] = display_width(shown(table.columns[i]));
      for_each_row([&](const std::vector<DataCell>& row) { widths_[i] = std::max(widths_[i], display_width(shown(row[i]))); });
    }
  }

  std::string write() {
    Table lines(columns());
    for_each_row([&](const std::vector<DataCell>& row) { add_row(row, lines); });
    return lines.render(paint_, indent_, width_, keeps_columns_);
  }

 private:
  template <typename Use>
  void for_each_row(const Use& use) const {
    for (const std::vector<DataCell>& row : table_.rows) use(row);
    if (table_.total) use(*table_.total);
  }

  void find_bars() {
    for (const std::vector<DataCell>& row : table_.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!row[i].bar) continue;
        bars_at_ = i;
        smallest_ = std::min(smallest_, row[i].bar->length);
        largest_ = std::max(largest_, row[i].bar->length);
      }
    }
  }

  std::size_t other_columns() const {
    std::size_t sum = indent_;
    for (const std::size_t width : widths_) sum += width + kColumnGap;
    return bars_at_ && is_share() ? sum + kBarColumns + kColumnGap : sum;
  }

  std::size_t bar_columns() const {
    if (*bars_at_ + 1 < table_.columns.size()) return kBarColumns;
    return std::clamp<std::size_t>(width_ > other_columns() ? width_ - other_columns() : 0, 8, kWidestBar);
  }

  /// A brief form that replaces a text is not shortened: only its full form identifies the text.
  std::size_t least_width(std::size_t column) const {
    std::size_t least = TableColumn{}.least;
    for_each_row([&](const std::vector<DataCell>& row) { least = std::max(least, display_width(visible(row[column].brief))); });
    return least;
  }

  std::vector<TableColumn> columns() const {
    std::vector<TableColumn> columns;
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      const DataColumn& column = table_.columns[i];
      columns.push_back({shown(column), column.numeric ? Align::kRight : Align::kLeft, column.is_prose, least_width(i)});
      if (bars_at_ == i) columns.push_back({"", Align::kLeft});
    }
    return columns;
  }

  TableCell bar_cell(const DataCell& cell) const {
    if (!cell.bar) return {};
    const double length = cell.bar->length;
    const Tone tone = tone_of(cell.bar->tone);
    if (is_share()) return {bar(length, bar_columns()), tone};
    if (smallest_ >= 0) return {bar(largest_ > 0 ? length / largest_ : 0, bar_columns()), tone};
    return {SignedBars(smallest_, largest_, bar_columns()).draw(length), tone};
  }

  /// Bars within a table are shares of 1, so that tables can be compared; bars at its end use the remaining
  /// width.
  bool is_share() const { return *bars_at_ + 1 < table_.columns.size(); }

  void add_row(const std::vector<DataCell>& row, Table& lines) const {
    std::vector<TableCell> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back({shown(row[i]), tone_of(row[i].tone)});
      if (bars_at_ == i) cells.push_back(bar_cell(row[i]));
    }
    const std::size_t before = other_columns() - widths_.back() - kColumnGap;
    if (!table_.columns.back().is_prose || width_ < before + kNarrowestProse) {
      lines.add_row(std::move(cells));
      return;
    }
    const Tone tone = cells.back().tone;
    std::vector<std::string> prose = wrapped(cells.back().text, width_ - before);
    for (std::size_t i = 0; i < std::max<std::size_t>(prose.size(), 1); ++i) {
      if (i > 0) cells.assign(cells.size(), TableCell{});
      cells.back() = {prose.empty() ? "" : prose[i], tone};
      lines.add_row(cells);
    }
  }

  const DataTable& table_;
  const Paint& paint_;
  std::size_t width_;
  bool keeps_columns_;
  std::size_t indent_;
  std::vector<std::size_t> widths_;
  std::optional<std::size_t> bars_at_;
  double smallest_ = 0;
  double largest_ = 0;
};

std::string heading(const DataTable& table, const Paint& paint, std::size_t width) {
  const std::string caption = visible(table.caption);
  const std::string detail = visible(table.detail);
  std::string text;
  const bool fits = display_width(caption) <= width;
  for (const std::string& line : fits ? std::vector{caption} : wrapped(caption, width))
    if (!line.empty()) text += (text.empty() ? "" : "\n") + paint(Tone::kStrong, fitted(line, width));
  if (detail.empty()) return text.empty() ? text : text + "\n";
  if (!text.empty() && display_width(caption) + kColumnGap + display_width(detail) <= width)
    return text + "  " + paint(Tone::kFaint, detail) + "\n";
  if (!text.empty()) text += "\n";
  for (const std::string& line : wrapped(detail, width - 2)) text += "  " + paint(Tone::kFaint, line) + "\n";
  return text;
}

}  // namespace

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

std::string data_table_text(const DataTable& table, const Paint& paint, LineWidth width, std::size_t indent) {
  if (table.rows.empty() && table.detail.empty()) return {};
  std::string text = heading(table, paint, width);
  if (!table.rows.empty()) text += TableText(table, paint, width, indent).write();
  for (const auto* sentences : {&table.legend, &table.notes}) {
    for (const std::string& sentence : *sentences) {
      for (const std::string& line : wrapped(visible(sentence), width - indent))
        text += std::string(indent, ' ') + paint(Tone::kFaint, line) + "\n";
    }
  }
  return text;
}

}  // namespace ddbench::reports
