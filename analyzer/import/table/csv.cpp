#include "analyzer/import/table/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace ddbench::imports {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvReader::CsvReader(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {
  if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    fail(static_cast<int>(line), "this is no text: it holds a NUL byte (UTF-16? save it as UTF-8)");
  }
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  skip_comments();
  choose_separator();
  if (!read_row(header_)) fail(1, "there is no header");
}

bool CsvReader::next(CsvRow& row) {
  if (!read_row(row)) return false;
  if (row.cells.size() == header_.cells.size()) return true;
  fail(row.line, fmt::format("{} cell(s), but the header has {}", row.cells.size(), header_.cells.size()));
}

void CsvReader::skip_comments() {
  while (at_ < text_.size() && (text_[at_] == '#' || at_line_end())) {
    while (at_ < text_.size() && !at_line_end()) ++at_;
    end_line();
  }
}

void CsvReader::choose_separator() {
  const std::string_view header = text_.substr(at_, text_.find_first_of("\r\n", at_) - at_);
  for (const char candidate : {',', ';', '\t'}) {
    if (header.find(candidate) == std::string_view::npos) continue;
    separator_ = candidate;
    return;
  }
}

/// Cells of the row before keep their memory. False at the end of the text.
bool CsvReader::read_row(CsvRow& row) {
  while (at_ < text_.size() && at_line_end()) end_line();
  if (at_ >= text_.size()) return false;
  row.line = line_;
  std::size_t count = 0;
  for (;;) {
    if (count == row.cells.size()) row.cells.emplace_back();
    std::string& cell = row.cells[count++];
    if (at_ < text_.size() && text_[at_] == '"') {
      read_quoted_cell(cell, count);
    } else {
      read_plain_cell(cell);
    }
    if (at_ < text_.size() && !at_line_end()) {
      ++at_;  // the separator
      continue;
    }
    if (at_ < text_.size()) end_line();
    row.cells.resize(count);
    return true;
  }
}

void CsvReader::end_line() {
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') ++at_;
  ++line_;
}

void CsvReader::read_plain_cell(std::string& cell) {
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != separator_ && !at_line_end()) ++at_;
  cell.assign(text_.substr(begin, at_ - begin));
}

void CsvReader::read_quoted_cell(std::string& cell, std::size_t column) {
  const int begin_line = line_;
  cell.clear();
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
      ++at_;
    }
    line_ += text_[at_] == '\n';
    cell += text_[at_];
  }
  if (at_ >= text_.size()) fail(begin_line, fmt::format("the quote in column {} is not closed", column));
  ++at_;
  if (at_ < text_.size() && text_[at_] != separator_ && !at_line_end())
    fail(line_, fmt::format("text behind the closing quote in column {}", column));
}

void CsvReader::fail(int line, const std::string& what) const {
  throw Error(ErrorCode::kBadInput, fmt::format("{} line {}: {}", origin_, line, what), 0, origin_);
}

}  // namespace ddbench::imports
