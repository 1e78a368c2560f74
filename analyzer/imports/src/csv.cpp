#include "csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "ddbench/record/error.h"

namespace ddbench::imports {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class Reader {
 public:
  Reader(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) text_.remove_prefix(kByteOrderMark.size());
  }

  void skip_comments() {
    while (at_ < text_.size() && (text_[at_] == '#' || at_line_end())) {
      while (at_ < text_.size() && !at_line_end()) ++at_;
      end_line();
    }
  }

  void choose_separator() {
    const std::string_view header = text_.substr(at_, text_.find_first_of("\r\n", at_) - at_);
    for (const char candidate : {',', ';', '\t'}) {
      if (header.find(candidate) == std::string_view::npos) continue;
      separator_ = candidate;
      return;
    }
  }

  /// False at the end of the text.
  bool read_row(CsvRow& row) {
    while (at_ < text_.size() && at_line_end()) end_line();
    if (at_ >= text_.size()) return false;
    row = {line_, {}};
    for (;;) {
      row.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted_cell(row) : plain_cell());
      if (at_ >= text_.size()) return true;
      if (at_line_end()) {
        end_line();
        return true;
      }
      ++at_;  // the separator
    }
  }

  [[noreturn]] void fail(int line, const std::string& what) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{} line {}: {}", origin_, line, what), 0, origin_);
  }

 private:
  bool at_line_end() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }

  std::string plain_cell() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && !at_line_end()) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted_cell(const CsvRow& row) {
    const int begin_line = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
      }
      line_ += text_[at_] == '\n';
      cell += text_[at_];
    }
    if (at_ >= text_.size())
      fail(begin_line, fmt::format("the quote in column {} is not closed", row.cells.size() + 1));
    ++at_;
    if (at_ < text_.size() && text_[at_] != separator_ && !at_line_end()) {
      fail(line_, fmt::format("text behind the closing quote in column {}", row.cells.size() + 1));
    }
    return cell;
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t at_ = 0;
  int line_ = 1;
  char separator_ = ',';
};

}  // namespace

CsvTable read_csv(std::string_view text, const std::string& origin) {
  Reader reader(text, origin);
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    reader.fail(static_cast<int>(line), "this is no text: it holds a NUL byte (UTF-16? save it as UTF-8)");
  }
  reader.skip_comments();
  reader.choose_separator();
  CsvTable table;
  if (!reader.read_row(table.header)) reader.fail(1, "there is no header");
  CsvRow row;
  while (reader.read_row(row)) {
    if (row.cells.size() != table.header.cells.size()) {
      reader.fail(row.line, fmt::format("{} cell(s), but the header has {}", row.cells.size(),
                                        table.header.cells.size()));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace ddbench::imports
