#include "reports/formats/markdown/document.h"

#include <fmt/format.h>

#include "reports/text/safe_text.h"

namespace ddbench::reports::markdown {
namespace {

constexpr std::size_t kMostCharacters = 60'000;  ///< GitHub refuses comments above 65,536
constexpr std::size_t kLongestCell = 300;

std::string cell_text(const DataCell& cell) {
  const std::string text = shortened(visible(cell.text), kLongestCell);
  if (text.empty()) return " ";
  const std::string escaped = cell.is_code ? markdown_code(text) : markdown_text(text);
  const bool strong = cell.tone == CellTone::kStrong || cell.tone == CellTone::kBad;
  return strong && !cell.is_code ? "**" + escaped + "**" : escaped;
}

std::string row_text(const std::vector<DataCell>& cells) {
  std::string text = "|";
  for (const DataCell& cell : cells) text += " " + cell_text(cell) + " |";
  return text + "\n";
}

}  // namespace

std::string table_text(const DataTable& table) {
  std::string heads = "|";
  std::string rule = "|";
  for (const DataColumn& column : table.columns) {
    heads += " " + markdown_text(column.title) + " |";
    rule += column.numeric ? " ---: |" : " --- |";
  }
  std::string text = heads + "\n" + rule + "\n";
  for (const auto& row : table.rows) text += row_text(row);
  if (table.total) text += row_text(*table.total);
  for (const std::string& note : table.notes) text += "\n" + markdown_text(note) + "\n";
  return text;
}

Document::Document(std::string_view title) {
  text_ = "## " + markdown_text(shortened(visible(title), 200)) + "\n\n";
}

void Document::add(std::string_view what, const std::string& markdown) {
  if (char_count(text_) + char_count(markdown) > kMostCharacters) {
    left_out_.emplace_back(what);
  } else {
    text_ += markdown;
  }
}

void Document::paragraph(std::string_view text) {
  add("a paragraph", markdown_text(text) + "\n\n");
}

void Document::faint(std::string_view text) {
  add("the subtitle", "<sub>" + markdown_text(text) + "</sub>\n\n");
}

void Document::alarms(const std::vector<std::string>& alarms) {
  for (const std::string& alarm : alarms)
    add("an alarm", "> **Attention:** " + markdown_text(shortened(visible(alarm), 2000)) + "\n\n");
}

void Document::tiles(const std::vector<Tile>& tiles) {
  std::string text = "| | | |\n| --- | ---: | --- |\n";
  for (const Tile& tile : tiles) {
    text += fmt::format("| {} | **{}** | {} |\n", markdown_text(tile.label), markdown_text(tile.value),
                        markdown_text(tile.detail));
  }
  add("the headline figures", text + "\n");
}

void Document::notes(const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  std::string text = "**Notes**\n\n";
  for (const std::string& note : notes) text += "- " + markdown_text(shortened(visible(note), 2000)) + "\n";
  add("the caveats", text + "\n");
}

void Document::table(const DataTable& table) {
  if (table.rows.empty()) return;
  std::string text = "### " + markdown_text(table.caption) + "\n\n";
  if (!table.detail.empty()) text += markdown_text(table.detail) + "\n\n";
  add(table.caption, text + table_text(table) + "\n");
}

void Document::folded_table(const DataTable& table) {
  if (table.rows.empty()) return;
  add(table.caption, fmt::format("<details><summary>{} ({})</summary>\n\n{}\n</details>\n\n",
                                 html_text(table.caption), table.rows.size(), table_text(table)));
}

std::string Document::finish() {
  for (const std::string& what : left_out_) {
    text_ += "_Left out, since the report would be too long: " + markdown_text(what) + "_\n\n";
  }
  while (text_.ends_with("\n\n")) text_.pop_back();
  return std::move(text_);
}

}  // namespace ddbench::reports::markdown
