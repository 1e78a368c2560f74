#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/tables/data_table.h"
#include "reports/tables/run_content.h"

namespace ddbench::reports::markdown {

/// Only the table, without its caption. Texts are escaped.
std::string table_text(const DataTable& table);

/// Writes one Markdown document from top to bottom. Callers pass unescaped text; it is escaped here. Content
/// that would make the document too long for a comment is left out, and a line at the end states this.
class Document {
 public:
  explicit Document(std::string_view title);

  void paragraph(std::string_view text);
  void faint(std::string_view text);
  void alarms(const std::vector<std::string>& alarms);
  void tiles(const std::vector<Tile>& tiles);
  void notes(const std::vector<std::string>& notes);
  void table(const DataTable& table);
  /// Inside <details>.
  void folded_table(const DataTable& table);
  std::string finish();

 private:
  void add(std::string_view what, const std::string& markdown);

  std::string text_;
  std::vector<std::string> left_out_;
};

}  // namespace ddbench::reports::markdown
