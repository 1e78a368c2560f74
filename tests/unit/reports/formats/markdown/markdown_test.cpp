#include "reports/formats/markdown/markdown.h"

#include <gtest/gtest.h>

#include <sstream>

#include "reports/text/safe_text.h"
#include "sample_store_test.h"

namespace ddbench::reports {
namespace {

class Markdown : public test::SampleStore {};

/// Cells of a row: bars that no backslash stands before.
std::size_t cells(const std::string& line) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
  return bars;
}

void expect_sound_tables(const std::string& markdown) {
  std::istringstream lines(markdown);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '|') {
      width = 0;
      continue;
    }
    if (width == 0) width = cells(line);
    EXPECT_EQ(cells(line), width) << line;
    EXPECT_EQ(line.back(), '|') << line;
  }
}

TEST_F(Markdown, BeginsWithTheVerdictAndHasItsTables) {
  const std::string text = run_markdown(run_report(store(), ids()[1]));
  EXPECT_EQ(text.rfind("## mlp on 1 node × 2 GPUs = 2 ranks\n", 0), 0u) << text.substr(0, 80);
  EXPECT_LT(text.find(" of a step of "), text.find("### Where a step goes"));
  EXPECT_NE(text.find("| exposed transfer | "), std::string::npos);
  EXPECT_NE(text.find("<details><summary>Ranks (2)</summary>"), std::string::npos);
  EXPECT_NE(text.find("provenance: measured"), std::string::npos);
  expect_sound_tables(text);
}

TEST_F(Markdown, OfASweepHasTheScalingTable) {
  const std::string text = sweep_markdown(sweep_report(store(), sweep_id()));
  EXPECT_NE(text.find("### Scaling"), std::string::npos);
  EXPECT_NE(text.find("2 of 4 runs gave no valid figures"), std::string::npos);
  EXPECT_NE(text.find("**failed: rank 3 on node 1"), std::string::npos);
  expect_sound_tables(text);
}

TEST_F(Markdown, FitsIntoACommentAndSaysWhatIsLeftOut) {
  RunReport report = run_report(store(), ids()[1]);
  for (int i = 0; i < 3000; ++i) report.summary.ranks.push_back(report.summary.ranks.front());
  const std::string text = run_markdown(report);
  EXPECT_LT(char_count(text), 65'536u);
  EXPECT_NE(text.find("Left out, since the report would be too long: Ranks"), std::string::npos);
  EXPECT_NE(text.find("### Where a step goes"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::reports
