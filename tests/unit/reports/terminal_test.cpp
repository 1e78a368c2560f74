#include <gtest/gtest.h>

#include "reports/formats/terminal/layout/bars.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/tables/sku_data.h"

namespace ddbench::reports {
namespace {

TEST(Bar, GrowsByEighthsAndNeverHidesAPositiveShare) {
  EXPECT_EQ(bar(0, 4), "");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 4), "██");
  EXPECT_EQ(bar(0.40625, 4), "█▋");
  EXPECT_EQ(bar(1e-9, 4), "▏");
  EXPECT_EQ(bar(7, 4), "████");
}

TEST(DataTableText, ProseContinuesOnFurtherLinesOrIsShortened) {
  DataTable table;
  table.columns = {{"gap"}, {"a step", true}, {.title = "cause", .is_prose = true}};
  table.rows = {{text_cell("host"), text_cell("73 ms"), text_cell("operators and launches while the GPU does nothing")}};
  EXPECT_EQ(data_table_text(table, Paint(false), 40),
            "  gap   a step  cause\n"
            "  host   73 ms  operators and launches\n"
            "                while the GPU does\n"
            "                nothing\n");
  EXPECT_EQ(data_table_text(table, Paint(false), 31),
            "  gap   a step  cause\n"
            "  host   73 ms  operators and …\n");
  table.columns[2].is_prose = false;
  EXPECT_EQ(data_table_text(table, Paint(false), 40), "  gap   a step  …\n  host   73 ms  …\n");
}

TEST(DataTableText, FilesAndPipesGetAllColumns) {
  DataTable table;
  table.columns = {{.title = "gap", .is_prose = true}, {"a step", true}, {"cause"}};
  table.rows = {{text_cell("host in the optimizer"), text_cell("73 ms"), text_cell("operators and launches")}};
  EXPECT_EQ(data_table_text(table, Paint(false), {24, true}),
            "  gap                    a step  cause\n"
            "  host in the optimizer   73 ms  operators and launches\n");
  EXPECT_EQ(data_table_text(table, Paint(false), {24, false}), "  gap          a step  …\n  host in th…   73 ms  …\n");
}

TEST(DataTableText, WhatStandsForATextIsNotShortened) {
  DataTable table;
  NumberedTexts programs("program");
  table.columns = {{.title = "workload", .is_prose = true}, {"note"}};
  table.rows = {{programs.cell("python train.py", true), text_cell("a longer remark")}};
  EXPECT_EQ(data_table_text(table, Paint(false), 20, 0), "workload   …\nprogram 1  …\n");
}

TEST(DataTableText, WhatHasLittleRoomIsBriefAndTheLegendSaysWhatItMeans) {
  DataTable table;
  NumberedTexts cases("case");
  table.columns = {{"GPUs", true}, {.title = "provenance", .brief = "prov."}, {"case", true}};
  table.rows = {{count_cell(4), provenance_cell(ProvenanceSet::from_bits(1)), cases.cell("precision=bf16")},
                {count_cell(8), provenance_cell(ProvenanceSet::from_bits(1)), cases.cell("")}};
  cases.explain(table.legend);
  EXPECT_EQ(data_table_text(table, Paint(false), 40, 0),
            "GPUs  prov.  case\n"
            "   4  M         1\n"
            "   8  M         –\n"
            "case 1: precision=bf16\n");
  EXPECT_EQ(table.rows[0][2].text, "precision=bf16");
}

TEST(DataTableText, BarsAreSharesInsideOfATableAndFillTheLineAtItsEnd) {
  DataTable table;
  table.columns = {{"part"}, {"share", true}, {"note"}};
  table.rows = {{text_cell("a"), text_cell("50%"), text_cell("x")}, {text_cell("b"), text_cell("100%"), text_cell("y")}};
  table.rows[0][1].bar = CellBar{0.5, CellTone::kGood};
  table.rows[1][1].bar = CellBar{1.0, CellTone::kGood};
  EXPECT_EQ(data_table_text(table, Paint(false), 60, 0),
            "part  share              note\n"
            "a       50%  █████       x\n"
            "b      100%  ██████████  y\n");
  table.columns.pop_back();
  for (auto& row : table.rows) row.pop_back();
  table.rows[0][1].bar->length = -10;
  table.rows[1][1].bar->length = 30;
  EXPECT_EQ(data_table_text(table, Paint(false), 22, 0),
            "part  share\n"
            "a       50%  ██│\n"
            "b      100%    │██████\n");
}

TEST(SignedBars, MeetAtOneAxis) {
  const SignedBars bars(-10, 30, 9);
  EXPECT_EQ(bars.draw(-10), "██│");
  EXPECT_EQ(bars.draw(30), "  │██████");
  EXPECT_EQ(bars.draw(-2.5), " ▐│");
  EXPECT_EQ(bars.draw(0), "  │");
}

TEST(SignedBars, WithoutNegativesBeginAtTheLeft) {
  const SignedBars bars(0, 8, 9);
  EXPECT_EQ(bars.draw(8), "│████████");
  EXPECT_EQ(SignedBars(0, 0, 9).draw(0), "│");
}

TEST(CellWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("\xe5\xad\xa6\xe7\xbf\x92"), 4u) << "two East Asian wide characters";
  EXPECT_EQ(display_width("e\xcc\x81"), 1u) << "a combining accent";
  EXPECT_EQ(fitted("abcdef", 4), "abc…");
  EXPECT_EQ(fitted("\xe5\xad\xa6\xe7\xbf\x92\xe5\xad\xa6", 4), "\xe5\xad\xa6…");
  EXPECT_EQ(fitted("abc", 0), "");
}

TEST(Wrapped, BreaksAtBlanksOnly) {
  EXPECT_EQ(wrapped("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("unbreakable word", 4), (std::vector<std::string>{"unbreakable", "word"}));
}

Table example_table() {
  Table table({{"name", Align::kLeft, true}, {"n"}, {"time"}});
  table.add_row({{"a long name of a run"}, {"12"}, {"3.4 ms"}});
  table.add_row({{"b"}, {"1"}, {"12.0 ms"}});
  return table;
}

TEST(Table, AlignsItsColumnsAndLeavesNoBlanksAtTheEnd) {
  EXPECT_EQ(example_table().render(Paint(false), 0, 80),
            "name                   n     time\n"
            "a long name of a run  12   3.4 ms\n"
            "b                      1  12.0 ms\n");
}

TEST(Table, ShortensTextAndThenLeavesOutColumns) {
  EXPECT_EQ(example_table().render(Paint(false), 0, 25),
            "name           n     time\n"
            "a long name…  12   3.4 ms\n"
            "b              1  12.0 ms\n");
  EXPECT_EQ(example_table().render(Paint(false), 0, 16),
            "name        n  …\n"
            "a long n…  12  …\n"
            "b           1  …\n");
}

TEST(Table, ColoursCellsWithoutMovingThem) {
  Table table({{"", Align::kLeft}, {"", Align::kLeft}});
  table.add_row({{"ab", Tone::kBad}, {"c"}});
  EXPECT_EQ(table.render(Paint(true), 0, 80), "\x1b[31mab\x1b[0m  c\n");
}

TEST(ShortenNames, WhatAllNamesBeginWithIsInTheLegend) {
  const auto table_of = [](std::vector<std::string> names) {
    DataTable table;
    table.columns = {{"sku"}};
    for (std::string& name : names) table.rows.push_back({text_cell(std::move(name))});
    shorten_names(table, 0);
    return table;
  };
  const DataTable skus = table_of({"Standard_NC24rs_v3", "Standard_NC24s_v3", "Standard_ND40rs_v2"});
  EXPECT_EQ(skus.rows[0][0].brief, "NC24rs_v3");
  EXPECT_EQ(skus.rows[1][0].brief, "NC24s_v3");
  EXPECT_EQ(skus.legend.at(0), "sku: each begins with Standard_");
  EXPECT_TRUE(table_of({"0.05", "0.01"}).legend.empty());
  EXPECT_TRUE(table_of({"Standard_NC24s_v3", "Standard_NC24s_v3"}).rows[0][0].brief.empty());
  EXPECT_TRUE(table_of({"Standard_NC24s_v3", "(none)"}).rows[0][0].brief.empty());
  EXPECT_TRUE(table_of({}).legend.empty());
}

}  // namespace
}  // namespace ddbench::reports
