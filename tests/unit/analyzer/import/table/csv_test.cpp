#include "analyzer/import/table/csv.h"

#include <gtest/gtest.h>

#include "expect_error.h"

namespace ddbench::imports {
namespace {

using Cells = std::vector<std::string>;

struct CsvTable {
  CsvRow header;
  std::vector<CsvRow> rows;
};

CsvTable read_csv(std::string_view text, const std::string& origin) {
  CsvReader reader(text, origin);
  CsvTable table{reader.header(), {}};
  for (CsvRow row; reader.next(row);) table.rows.push_back(row);
  return table;
}

TEST(Csv, QuotesCommasLineEndsAndBom) {
  const CsvTable table = read_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n1,\"x, \"\"y\"\"\r\nz\"\r\n\r\n,\n",
      "t.csv");
  EXPECT_EQ(table.header.cells, (Cells{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells, (Cells{"1", "x, \"y\"\r\nz"}));
  EXPECT_EQ(table.rows[0].line, 2);
  EXPECT_EQ(table.rows[1].cells, (Cells{"", ""}));
  EXPECT_EQ(table.rows[1].line, 5);
}

TEST(Csv, NoLineEndAtTheEnd) {
  EXPECT_EQ(read_csv("a,b\n1,2", "t.csv").rows.at(0).cells, (Cells{"1", "2"}));
  EXPECT_EQ(read_csv("a,b\n1,", "t.csv").rows.at(0).cells, (Cells{"1", ""}));
}

TEST(Csv, CommentsBeforeTheHeaderAndOtherSeparators) {
  const CsvTable table = read_csv("# where from, when\n#\n\na;b\n1,5;2\n", "t.csv");
  EXPECT_EQ(table.header.line, 4);
  EXPECT_EQ(table.rows.at(0).cells, (Cells{"1,5", "2"}));
  EXPECT_EQ(read_csv("a\tb\n1\t2\n", "t.csv").rows.at(0).cells, (Cells{"1", "2"}));
  EXPECT_EQ(read_csv("a\n1\n", "t.csv").rows.at(0).cells, (Cells{"1"}));
}

TEST(Csv, WhatIsWrongIsNamedByLine) {
  EXPECT_ERROR(ErrorCode::kBadInput, "t.csv line 2: the quote in column 2 is not closed",
               read_csv("a,b\n1,\"2\n3,4\n", "t.csv"));
  EXPECT_ERROR(ErrorCode::kBadInput, "line 3: 3 cell(s), but the header has 2",
               read_csv("a,b\n1,2\n1,2,3\n", "t.csv"));
  EXPECT_ERROR(ErrorCode::kBadInput, "line 2: text behind the closing quote in column 1",
               read_csv("a,b\n\"1\"x,2\n", "t.csv"));
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no header", read_csv("", "t.csv"));
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no header", read_csv("# only\n# comments", "t.csv"));
  EXPECT_ERROR(ErrorCode::kBadInput, "line 2: this is no text",
               read_csv(std::string("a,b\n1\0,2\n", 9), "t.csv"));
}

}  // namespace
}  // namespace ddbench::imports
