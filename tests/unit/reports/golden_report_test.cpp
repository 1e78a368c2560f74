#include <gtest/gtest.h>

#include "example_summary.h"
#include "reports/formats/json/json.h"
#include "reports/formats/terminal/text.h"
#include "tests/golden/golden.h"

namespace ddbench::reports {
namespace {

using golden::matches_golden;

TEST(GoldenText, OfACompleteRun) {
  EXPECT_TRUE(matches_golden("run_complete.txt", run_text(example_run(), {})));
  EXPECT_TRUE(matches_golden("run_complete_color.txt", run_text(example_run(), {true, 100})));
  EXPECT_TRUE(matches_golden("run_complete_narrow.txt", run_text(example_run(), {false, 60})));
}

TEST(GoldenText, OfABaseline) {
  EXPECT_TRUE(matches_golden("run_baseline.txt", run_text(example_baseline(), {})));
}

TEST(GoldenText, OfAFailedRun) {
  EXPECT_TRUE(matches_golden("run_failed.txt", run_text(example_failed_run(), {})));
}

TEST(GoldenText, OfAnInvalidRun) {
  EXPECT_TRUE(matches_golden("run_invalid.txt", run_text(example_invalid_run(), {})));
}

TEST(GoldenText, OfScaling) {
  EXPECT_TRUE(matches_golden("scaling_strong.txt", scaling_text(example_strong_scaling(), {false, 140})));
  EXPECT_TRUE(matches_golden("scaling_weak.txt", scaling_text(example_weak_scaling(), {})));
}

TEST(GoldenText, OfAList) {
  const std::vector<analyzer::RunSummary> runs = {example_run(), example_baseline(), example_failed_run(),
                                                  example_invalid_run()};
  EXPECT_TRUE(matches_golden("run_list.txt", run_list_text(runs, {})));
}

// validate_schemas.py holds these files against reports/schema.
TEST(GoldenJson, OfRuns) {
  EXPECT_TRUE(matches_golden("run_complete.json", run_json(example_run()) + "\n"));
  EXPECT_TRUE(matches_golden("run_baseline.json", run_json(example_baseline()) + "\n"));
  EXPECT_TRUE(matches_golden("run_failed.json", run_json(example_failed_run()) + "\n"));
  EXPECT_TRUE(matches_golden("run_hostile.json", run_json(example_hostile_run()) + "\n"));
}

TEST(GoldenJson, OfScaling) {
  EXPECT_TRUE(matches_golden("scaling_strong.json", scaling_json(example_strong_scaling()) + "\n"));
  EXPECT_TRUE(matches_golden("scaling_weak.json", scaling_json(example_weak_scaling()) + "\n"));
}

TEST(GoldenJson, OfAList) {
  EXPECT_TRUE(matches_golden("run_list.json", run_list_json({example_run(), example_failed_run()}) + "\n"));
}

}  // namespace
}  // namespace ddbench::reports
