#include "reports/formats/prometheus/prometheus.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"

namespace ddbench::reports {
namespace {

analyzer::RunSummary run(const std::string& id) {
  analyzer::RunSummary summary;
  summary.run.id = id;
  summary.run.run_case.name = "night \"1\"\\\n";
  summary.run.state = store::RunState::kDone;
  summary.step_time_ns = analyzer::Quantity{2.5e6, Measured<ConfidenceInterval>::missing("2 steps")};
  summary.samples_per_s = 1024.5;
  summary.probed_steps = 3;
  summary.partition[store::StepPart::kForward] = 1'500'000;
  return summary;
}

/// The samples of a text in Prometheus's format; fails for what is none, and for a family in two places or without its type.
std::vector<std::string> samples_of(const std::string& text) {
  const std::regex sample(R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)\{([a-z_]+="([^"\\\n]|\\\\|\\")*",?)+\} [-+0-9.e]+)re");
  std::vector<std::string> samples;
  std::set<std::string> known;
  std::string family;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) continue;
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(known.insert(family).second) << family;
      EXPECT_TRUE(line.ends_with(" gauge"));
      continue;
    }
    std::smatch match;
    EXPECT_TRUE(std::regex_match(line, match, sample)) << line;
    EXPECT_EQ(match[1], family);
    samples.push_back(line);
  }
  return samples;
}

bool has(const std::vector<std::string>& samples, const std::string& text) {
  for (const std::string& sample : samples) {
    if (sample.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(Prometheus, HasWhatWasMeasuredInBaseUnits) {
  const std::vector runs = {run("a"), run("b")};
  const std::vector<std::string> samples = samples_of(runs_prometheus(runs));
  EXPECT_TRUE(has(samples, R"(ddbench_step_time_seconds{run="a",name="night \"1\"\\)"));
  EXPECT_TRUE(has(samples, "ddbench_step_time_seconds{run=\"b\""));
  EXPECT_TRUE(has(samples, "} 0.0025"));
  EXPECT_TRUE(has(samples, "} 1024.5"));
  EXPECT_TRUE(has(samples, R"(part="forward"} 0.0015)"));
}

TEST(Prometheus, WhatWasNotMeasuredHasNoSample) {
  const std::vector runs = {run("a")};
  const std::vector<std::string> samples = samples_of(runs_prometheus(runs));
  for (const char* text : {"ddbench_efficiency_ratio", "ddbench_overlap", "ddbench_step_time_interval", "cpu_wait", "ddbench_loss"})
    EXPECT_FALSE(has(samples, text)) << text;
}

TEST(Prometheus, TheBoundsOfAnIntervalAreTheSameSeriesInEachRun) {
  std::vector runs = {run("a")};
  runs[0].step_time_ns = analyzer::Quantity{2.5e6, ConfidenceInterval{2.4e6, 2.6e6, 0.95, "Student's t (n=24, worth 19 independent)"}};
  const std::vector<std::string> samples = samples_of(runs_prometheus(runs));
  EXPECT_TRUE(has(samples, R"(bound="low"} 0.0024)"));
  EXPECT_TRUE(has(samples, R"(bound="high"} 0.0026)"));
  EXPECT_FALSE(has(samples, "method"));
}

TEST(Prometheus, OfARunThatMustNotBeUsedOnlyItsStateIsKnown) {
  std::vector runs = {run("a")};
  runs[0].run.valid = false;
  const std::vector<std::string> samples = samples_of(runs_prometheus(runs));
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_TRUE(has(samples, R"(valid="0")"));
  EXPECT_EQ(runs_prometheus({}), "");
}

TEST(LivePrometheus, ReportsWhatIsKnownOfARunThatGoesOn) {
  LiveFigures figures{"run1", "a\"b", 12, {}, {}, "", 1.5e9};
  std::string text = live_prometheus(figures);
  EXPECT_NE(text.find("ddbench_live_steps{run=\"run1\",name=\"a\\\"b\"} 12\n"), std::string::npos) << text;
  EXPECT_NE(text.find("ddbench_live_verdict{run=\"run1\",name=\"a\\\"b\",verdict=\"\"} 0\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("per_second"), std::string::npos) << "not known yet";
  figures.steps_per_s = 50;
  figures.communication_share = 0.25;
  figures.verdict = "rank 2 (node 0) holds the others up\nsince";
  text = live_prometheus(figures);
  EXPECT_NE(text.find("ddbench_live_steps_per_second{run=\"run1\",name=\"a\\\"b\"} 50\n"), std::string::npos) << text;
  EXPECT_NE(text.find("ddbench_live_communication_ratio{run=\"run1\",name=\"a\\\"b\"} 0.25\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("up\nsince"), std::string::npos) << "a label has one line";
  EXPECT_NE(text.find("\"} 1\n"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::reports
