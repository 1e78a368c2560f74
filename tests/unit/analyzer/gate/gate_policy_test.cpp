#include "analyzer/gate/gate_policy.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

std::string complaint(std::string_view toml) {
  try {
    parse_policy(toml, "p.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "accepted";
}

bool complains(std::string_view toml, std::initializer_list<std::string_view> words) {
  const std::string message = complaint(toml);
  bool all = true;
  for (const std::string_view word : words) {
    all &= message.find(word) != std::string::npos;
    EXPECT_NE(message.find(word), std::string::npos) << message << "\nlacks " << word;
  }
  return all;
}

TEST(ParseShare, TakesPercentagesAndFractions) {
  EXPECT_DOUBLE_EQ(parse_share("3%", "threshold"), 0.03);
  EXPECT_DOUBLE_EQ(parse_share("0.5%", "threshold"), 0.005);
  EXPECT_DOUBLE_EQ(parse_share("0.03", "threshold"), 0.03);
  EXPECT_DOUBLE_EQ(parse_share("250%", "threshold"), 2.5);
}

TEST(ParseShare, RefusesWhatIsNoShare) {
  for (const char* text :
       {"", "%", "3", "three", "-3%", "0", "0%", "3 %", " 3%", "nan", "inf", "1001%", "3%%", "0x"}) {
    EXPECT_THROW(parse_share(text, "threshold"), Error) << text;
  }
}

TEST(ParseMetrics, TakesNamesOnceEach) {
  EXPECT_EQ(parse_metrics("step_time,busbw,step_time"),
            (std::vector<RunMetric>{RunMetric::kStepTime, RunMetric::kBusBandwidth}));
  EXPECT_THROW(parse_metrics(""), Error);
  EXPECT_THROW(parse_metrics("step_time,"), Error);
  EXPECT_THROW(parse_metrics("speed"), Error);
}

/// The names in "...; it has a, b, c".
std::vector<std::string> known_keys() {
  const std::string message = complaint("no_such_key = 1");
  constexpr std::string_view kIntroduction = "it has ";
  std::istringstream list(message.substr(message.find(kIntroduction) + kIntroduction.size()));
  std::vector<std::string> keys;
  for (std::string key; std::getline(list >> std::ws, key, ',');) keys.push_back(key);
  return keys;
}

TEST(ReadPolicy, TheExampleHasEveryKeyAndEveryMetricByItsName) {
  const std::filesystem::path file = std::filesystem::path(DDBENCH_SOURCE_DIR) / "reports/ci/policy.toml";
  read_policy(file);  // refuses unknown keys and metrics
  std::ostringstream text;
  text << "\n" << std::ifstream(file).rdbuf();
  ASSERT_GT(known_keys().size(), 5u);
  for (const std::string& key : known_keys())
    EXPECT_TRUE(text.str().find("\n" + key + " = ") != std::string::npos || text.str().find("\n[" + key + "]") != std::string::npos) << key;
  for (const RunMetric metric : all_run_metrics()) EXPECT_NE(text.str().find(to_string(metric)), std::string::npos) << to_string(metric);
  EXPECT_EQ(text.str().find("peak_memory"), std::string::npos) << "the former name of host_memory";
}

TEST(ParsePolicy, ReadsEveryKey) {
  const GatePolicy policy = parse_policy(R"(
metrics = ["step_time", "peak_memory"]
threshold = "3%"
confidence = 0.95
min_pairs = 5
repeat_on_fail = 2
min_sessions = 4
session_spread = "1.5%"
drift_spread = 0.005
vary = ["link", "bucket_bytes"]
[thresholds]
peak_memory = "10%"
)",
                                         "p.toml");
  EXPECT_EQ(policy.metrics, (std::vector<RunMetric>{RunMetric::kStepTime, RunMetric::kHostMemory}));
  EXPECT_DOUBLE_EQ(policy.threshold_of(RunMetric::kStepTime), 0.03);
  EXPECT_DOUBLE_EQ(policy.threshold_of(RunMetric::kHostMemory), 0.10);
  EXPECT_DOUBLE_EQ(policy.confidence, 0.95);
  EXPECT_EQ(policy.min_pairs, 5);
  EXPECT_EQ(policy.repeat_on_fail, 2);
  EXPECT_EQ(policy.min_sessions, 4);
  EXPECT_DOUBLE_EQ(policy.session_spread, 0.015);
  EXPECT_DOUBLE_EQ(policy.drift_spread, 0.005);
  EXPECT_EQ(policy.vary, (std::set<std::string>{"link", "bucket_bytes"}));
}

TEST(ParsePolicy, OfAnEmptyFileIsTheDefault) {
  const GatePolicy policy = parse_policy("", "p.toml");
  EXPECT_EQ(policy.metrics, std::vector<RunMetric>{RunMetric::kStepTime});
  EXPECT_DOUBLE_EQ(policy.threshold, 0.03);
  EXPECT_DOUBLE_EQ(policy.confidence, 0.99);
}

TEST(ParsePolicy, NamesFileAndLineOfAMistake) {
  complains("threshold = \"3%\"\nmin_pair = 5\n", {"p.toml:2", "min_pair", "min_pairs"});
  complains("\n\nmetrics = [\"speed\"]", {"p.toml:3", "speed", "step_time"});
  complains("[thresholds]\n\nspeed = \"3%\"", {"p.toml:3", "speed", "step_time"});
  complains("threshold = \"3\"", {"p.toml:1", "threshold", "3%"});
  complains("threshold = 3", {"p.toml:1", "threshold"});
  complains("min_pairs = \"many\"", {"p.toml:1", "min_pairs", "whole number"});
  complains("min_pairs = -1", {"p.toml:1", "min_pairs"});
  complains("metrics = \"step_time\"", {"p.toml:1", "metrics", "list"});
  complains("metrics = []", {"p.toml", "metric"});
  complains("thresholds = 3", {"p.toml:1", "table"});
  complains("confidence = 1.0", {"p.toml", "confidence"});
  complains("confidence = \"high\"", {"p.toml:1", "confidence"});
  complains("min_pairs = 1", {"p.toml", "min_pairs", "2"});
  complains("vary = [\"colour\"]", {"p.toml", "colour", "link"});
  complains("vary = [\"name\"]", {"p.toml", "name"});
  complains("threshold = \"3%\"\nthreshold = \"4%\"", {"p.toml:2"});
  complains("threshold = ", {"p.toml:1"});
}

TEST(ReadPolicy, OfAMissingFileNamesIt) {
  try {
    read_policy("/nonexistent/policy.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("/nonexistent/policy.toml"), std::string::npos);
  }
}

}  // namespace
}  // namespace ddbench::analyzer
