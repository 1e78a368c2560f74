#include "reports/tables/end_of_steps.h"

#include <gtest/gtest.h>

#include "core/run_case/step_facts.h"
#include "reports/tables/run_content.h"

namespace ddbench::reports {
namespace {

analyzer::RunSummary by_margin(const char* ended_by) {
  analyzer::RunSummary summary;
  summary.run.run_case.steps = kMostSteps;
  summary.run.run_case.margin = 0.01;
  summary.run.run_case.max_time_s = 20;
  auto& facts = summary.run.environment.facts;
  facts = {{"steps.done", "417"}, {"steps.waits_for_launcher", "2"}, {"steps.waits_for_launcher_ns", "300"}};
  if (ended_by != nullptr) facts["steps.ended_by"] = ended_by;
  summary.step_time_ns = analyzer::Quantity{100, ConfidenceInterval{99, 102, 0.95, "t"}};
  summary.probe_overhead_percent = analyzer::Estimate{0.5, {-0.25, 1.25, 0.95, "paired"}};
  return summary;
}

TEST(EndOfSteps, HasTheWidthsOfTheIntervalsThatAreShown) {
  const auto end = end_of_steps(by_margin(kEndedByMargin));
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->by_margin);
  EXPECT_EQ(end->goal, 0.01);
  EXPECT_DOUBLE_EQ(*end->half_width, 0.015);
  EXPECT_DOUBLE_EQ(*end->probe_half_width, 0.0075);
  EXPECT_EQ(end->waits, 2);
  EXPECT_EQ(end->wait_ns, 300);
  EXPECT_FALSE(end_of_steps(by_margin(kEndedByTime))->by_margin);
}

TEST(EndOfSteps, WhatIsNotKnownHasItsReason) {
  analyzer::RunSummary short_run = by_margin(kEndedByTime);
  short_run.step_time_ns = analyzer::Quantity{100, Measured<ConfidenceInterval>::missing("1 step(s)")};
  EXPECT_EQ(end_of_steps(short_run)->half_width.reason(), "1 step(s)");
  EXPECT_FALSE(end_of_steps(by_margin(nullptr)));  // it was cut off
  analyzer::RunSummary fixed = by_margin(kEndedByMargin);
  fixed.run.run_case.margin = 0;
  EXPECT_FALSE(end_of_steps(fixed));
}

TEST(EndOfSteps, InWords) {
  analyzer::RunSummary run = by_margin(kEndedByTime);
  run.measured_steps = 6958;
  run.run.run_case.margin = 0.125;
  run.probe_overhead_percent = analyzer::Estimate{1, {0, 2, 0.95, "paired"}};
  run.step_time_ns = analyzer::Quantity{100, ConfidenceInterval{30, 250, 0.95, "t"}};
  const std::string rest = " (goal 12.5%); that of the probes' cost 1% of a step (goal 0.5%); 2 waits of ranks for the launcher in it, 300.0 ns";
  EXPECT_EQ(end_in_words(run), "stopped at --max-time after 6,958 steps: half-width 110%" + rest);
  run.step_time_ns = analyzer::Quantity{100, Measured<ConfidenceInterval>::missing("one step dominates")};
  EXPECT_EQ(end_in_words(run), "stopped at --max-time after 6,958 steps: no interval: one step dominates" + rest);
}

TEST(StepFacts, StepsThatWereDone) {
  RunCase run_case;
  EXPECT_EQ(steps_done(run_case, {}), run_case.total_steps());
  run_case.margin = 0.01;
  EXPECT_EQ(steps_done(run_case, {}), 0);
  EXPECT_EQ(steps_done(run_case, {{"steps.done", "417"}}), 417);
  EXPECT_EQ(steps_done(run_case, {{"steps.done", "417"}, {"resumed.at_step", "400"}}), 17) << "the others are of the run that it continues";
}

}  // namespace
}  // namespace ddbench::reports
