#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/formats/gate/gate.h"
#include "sample_runs.h"
#include "tests/golden/golden.h"

namespace ddbench::reports {
namespace {

using analyzer::GateOutcome;
using analyzer::GateSide;
using analyzer::GateVerdict;
using analyzer::RunMetric;
using analyzer::test::interleave;
using analyzer::test::sample_side;

GateVerdict verdict_of(double factor, double noise = 0.001) {
  std::vector<double> a;
  std::vector<double> b;
  for (const double wobble : {1.0, -2.0, 3.0, -1.0, 0.0, -1.0}) {
    a.push_back(10 * (1 + noise * wobble));
    b.push_back(10 * factor * (1 - noise * wobble));
  }
  GateSide baseline = sample_side("a", a);
  GateSide candidate = sample_side("b", b);
  interleave(baseline, candidate);
  analyzer::GatePolicy policy;
  policy.metrics = {RunMetric::kStepTime, RunMetric::kHostMemory};
  return judge(std::move(baseline), std::move(candidate), policy);
}

GateVerdict pass() {
  return verdict_of(1);
}
GateVerdict regression() {
  return verdict_of(1.1);
}
GateVerdict too_noisy() {
  return verdict_of(1, 0.05);
}
GateVerdict no_baseline() {
  GateSide baseline;
  baseline.reference = "main";
  baseline.missing = "the store has no named baselines";
  return judge(baseline, sample_side("b", {10, 10, 10}), {});
}

int occurrences(const std::string& text, const std::string& wanted) {
  int found = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++found;
  return found;
}

struct Case {
  const char* name;
  GateVerdict (*make)();
  GateOutcome outcome;
};

class EveryForm : public testing::TestWithParam<Case> {};

TEST_P(EveryForm, SaysWhatTheExitCodeSays) {
  const GateVerdict verdict = GetParam().make();
  ASSERT_EQ(verdict.outcome, GetParam().outcome);
  const int exit_code = analyzer::exit_code_of(verdict.outcome);
  const std::string word(to_string(verdict.outcome));

  const auto json = nlohmann::json::parse(gate_json(verdict));
  EXPECT_EQ(json["outcome"], word);
  EXPECT_EQ(json["exit_code"], exit_code);

  const std::string markdown = gate_markdown(verdict);
  EXPECT_EQ(occurrences(markdown, "(exit code " + std::to_string(exit_code) + ")"), 1);
  EXPECT_EQ(occurrences(markdown, "(exit code "), 1);
  EXPECT_EQ(occurrences(markdown, "✅"), verdict.outcome == GateOutcome::kPass);
  EXPECT_EQ(occurrences(markdown, "❌"), verdict.outcome == GateOutcome::kRegression);
  EXPECT_EQ(occurrences(markdown, "⚠️"), verdict.outcome == GateOutcome::kInconclusive);

  const std::string junit = gate_junit(verdict);
  EXPECT_EQ(occurrences(junit, "<property name=\"outcome\" value=\"" + word + "\"/>"), 1);
  EXPECT_EQ(occurrences(junit, "<property name=\"exit_code\" value=\"" + std::to_string(exit_code) + "\"/>"),
            1);
  const int failures = occurrences(junit, "<failure ");
  const int errors = occurrences(junit, "<error ");
  EXPECT_EQ(failures > 0, verdict.outcome == GateOutcome::kRegression);
  EXPECT_EQ(failures == 0 && errors == 0, verdict.outcome == GateOutcome::kPass);
  EXPECT_EQ(occurrences(junit, "failures=\"" + std::to_string(failures) + "\""), 2);
  EXPECT_EQ(occurrences(junit, "errors=\"" + std::to_string(errors) + "\""), 2);
  const bool is_judged = GetParam().make != no_baseline;
  EXPECT_EQ(occurrences(junit, "<testcase "), is_judged ? static_cast<int>(verdict.metrics.size()) : 1);
  EXPECT_EQ(occurrences(junit, "name=\"verdict\""), is_judged ? 0 : 1);

  EXPECT_EQ(gate_text(verdict, {}).find("gate: " + verdict.headline.substr(0, 30)), 0u);
}

TEST_P(EveryForm, IsAsItsGoldenFile) {
  const GateVerdict verdict = GetParam().make();
  const std::string name = std::string("gate_") + GetParam().name;
  EXPECT_TRUE(golden::matches_golden(name + ".txt", gate_text(verdict, {})));
  EXPECT_TRUE(golden::matches_golden(name + ".md", gate_markdown(verdict)));
  EXPECT_TRUE(golden::matches_golden(name + ".xml", gate_junit(verdict)));
  EXPECT_TRUE(golden::matches_golden(name + ".json", gate_json(verdict) + "\n"));
}

INSTANTIATE_TEST_SUITE_P(Verdicts, EveryForm,
                         testing::Values(Case{"pass", pass, GateOutcome::kPass},
                                         Case{"regression", regression, GateOutcome::kRegression},
                                         Case{"noisy", too_noisy, GateOutcome::kInconclusive},
                                         Case{"no_baseline", no_baseline, GateOutcome::kInconclusive}),
                         [](const auto& test) { return std::string(test.param.name); });

const std::string kHostile =
    "</failure>]]><script>alert(1)</script>&'\"|`@all #1 [x](http://evil) '; DROP TABLE "
    "run;--\n\r\x1b[31m\xff\xe2\x80\xae"
    "\xef\xbf\xbe";

GateVerdict hostile(GateVerdict verdict) {
  verdict.headline = kHostile;
  verdict.reasons = {kHostile};
  verdict.notes = {kHostile};
  verdict.explanation = {kHostile};
  for (GateSide* side : {&verdict.baseline, &verdict.candidate}) {
    side->reference = kHostile;
    side->meaning = kHostile;
    for (auto& run : side->runs) run.run.id = kHostile;
  }
  for (auto& metric : verdict.metrics) {
    metric.reason = kHostile;
    if (metric.estimate) metric.estimate->change_interval.method = kHostile;
  }
  verdict.compared = {{kHostile, FieldRole::kIdentity, kHostile, kHostile}};
  for (auto& change : verdict.collectives) change.function = kHostile;
  return verdict;
}

testing::AssertionResult without_control_characters(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f || byte == 0xff) {
      return testing::AssertionFailure() << "byte " << static_cast<int>(byte) << " in " << text;
    }
  }
  return testing::AssertionSuccess();
}

TEST(JUnit, OneRegressionIsOneFailure) {
  const std::string junit = gate_junit(regression());
  EXPECT_EQ(occurrences(junit, "<testsuite name=\"ddbench gate\" tests=\"2\" failures=\"1\" errors=\"0\""), 1) << junit;
  EXPECT_EQ(occurrences(gate_junit(no_baseline()), "tests=\"1\" failures=\"0\" errors=\"1\""), 2);
}

TEST(HostileNames, AreHarmlessInEveryForm) {
  for (const GateVerdict& verdict : {hostile(regression()), hostile(no_baseline()), hostile(pass())}) {
    const std::string text = gate_text(verdict, {});
    const std::string markdown = gate_markdown(verdict);
    const std::string junit = gate_junit(verdict);
    const std::string json = gate_json(verdict);
    for (const std::string& form : {text, markdown, junit, json}) {
      EXPECT_TRUE(without_control_characters(form));
      EXPECT_EQ(form.find("\xe2\x80\xae"), std::string::npos);
    }
    EXPECT_EQ(junit.find("<script"), std::string::npos);
    EXPECT_EQ(junit.find("]]>"), std::string::npos);
    EXPECT_EQ(junit.find("\xef\xbf\xbe"), std::string::npos);
    EXPECT_EQ(occurrences(junit, "<testcase "), static_cast<int>(verdict.metrics.size()));
    EXPECT_EQ(markdown.find("<script>alert"), std::string::npos);
    EXPECT_EQ(markdown.find("@all"), std::string::npos);
    EXPECT_EQ(markdown.find("[x](http"), std::string::npos);
    EXPECT_EQ(occurrences(markdown, "<details>"), 1);
    EXPECT_NO_THROW(nlohmann::json::parse(json));
  }
}

TEST(HostileNames, KeepTheMarkdownTableWhole) {
  const std::string markdown = gate_markdown(hostile(regression()));
  std::size_t begin = markdown.find("| metric |");
  ASSERT_NE(begin, std::string::npos);
  for (int row = 0; row < 4; ++row) {
    const std::size_t end = markdown.find('\n', begin);
    EXPECT_EQ(occurrences(markdown.substr(begin, end - begin), "|"), 9);
    begin = end + 1;
  }
}

TEST(HistoryReports, NameTheRunThatChangedTheLevel) {
  std::vector<double> values;
  for (int i = 0; i < 16; ++i) values.push_back((i < 8 ? 10 : 12) * (1 + 0.001 * (i % 3)));
  auto runs = sample_side("r", values).runs;
  runs[3].run.run_case.name = kHostile;
  const analyzer::RunHistory history = analyzer::run_history(runs, RunMetric::kStepTime);
  const std::string text = history_text(history, {});
  EXPECT_NE(text.find("+20.0% worse  10.01 ms  12.01 ms"), std::string::npos) << text;
  EXPECT_TRUE(without_control_characters(text));
  const auto json = nlohmann::json::parse(history_json(history));
  EXPECT_EQ(json["series"][0]["changes"][0]["run"], "r8");
  EXPECT_EQ(json["series"][0]["points"].size(), 16u);
  EXPECT_TRUE(golden::matches_golden("history_step.json", history_json(history) + "\n"));
}

TEST(BaselineReports, ListVersions) {
  const std::vector<store::NamedBaseline> baselines{
      {"main", 3, 1'700'000'000'000'000'000, "name=main", {"r1", "r2"}},
      {"x", 1, 1'700'000'000'000'000'000, kHostile, {"r1"}}};
  const std::string text = baselines_text(baselines, {});
  EXPECT_NE(text.find("main"), std::string::npos);
  EXPECT_TRUE(without_control_characters(text));
  EXPECT_EQ(baselines_text({}, {}), "no named baselines\n");
  EXPECT_TRUE(golden::matches_golden("baselines.json", baselines_json(baselines) + "\n"));
}

}  // namespace
}  // namespace ddbench::reports
