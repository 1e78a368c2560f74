#include <fmt/format.h>

#include "reports/formats/gate/gate.h"
#include "reports/tables/gate/gate_words.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::GateOutcome;
using analyzer::GateVerdict;
using analyzer::MetricVerdict;

struct TestCase {
  std::string name;
  GateOutcome outcome = GateOutcome::kInconclusive;
  std::string reason;
};

/// As in HTML, except for two code points that XML forbids.
std::string xml_text(std::string_view text) {
  std::string escaped = html_text(text);
  for (const auto& [bytes, shown] : {std::pair{"\xEF\xBF\xBE", "\\u{fffe}"}, {"\xEF\xBF\xBF", "\\u{ffff}"}}) {
    for (std::size_t at = escaped.find(bytes); at != std::string::npos; at = escaped.find(bytes)) {
      escaped.replace(at, 3, shown);
    }
  }
  return escaped;
}

/// One for each metric, or "verdict" where none was judged: one regression is one failure.
std::vector<TestCase> test_cases(const GateVerdict& verdict) {
  std::vector<TestCase> cases;
  for (const MetricVerdict& metric : verdict.metrics) {
    if (!metric.reason.empty()) cases.push_back({std::string(to_string(metric.metric)), metric.outcome, metric.reason});
  }
  if (cases.empty()) cases.push_back({"verdict", verdict.outcome, verdict.headline});
  return cases;
}

std::size_t count(const std::vector<TestCase>& cases, GateOutcome outcome) {
  std::size_t found = 0;
  for (const TestCase& test : cases) found += test.outcome == outcome;
  return found;
}

std::string details(const GateVerdict& verdict) {
  std::string text = side_in_words(verdict.baseline) + " | " + side_in_words(verdict.candidate);
  std::string lines = xml_text("baseline | candidate: " + text) + "\n";
  for (const auto* sentences : {&verdict.reasons, &verdict.explanation, &verdict.notes}) {
    for (const std::string& sentence : *sentences) lines += xml_text(sentence) + "\n";
  }
  return lines;
}

std::string test_case_xml(const TestCase& test, const std::string& body) {
  const std::string open =
      fmt::format("    <testcase classname=\"ddbench.gate\" name=\"{}\" time=\"0\"", xml_text(test.name));
  if (test.outcome == GateOutcome::kPass) return open + "/>\n";
  const char* element = test.outcome == GateOutcome::kRegression ? "failure" : "error";
  return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", open, element,
                     to_string(test.outcome), xml_text(test.reason), body, element);
}

}  // namespace

std::string gate_junit(const GateVerdict& verdict) {
  const std::vector<TestCase> cases = test_cases(verdict);
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"0\"", cases.size(),
                  count(cases, GateOutcome::kRegression), count(cases, GateOutcome::kInconclusive));
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites {}>\n  <testsuite name=\"ddbench gate\" {}>\n    <properties>\n", counts,
                     counts);
  xml += fmt::format("      <property name=\"outcome\" value=\"{}\"/>\n", to_string(verdict.outcome));
  xml += fmt::format("      <property name=\"exit_code\" value=\"{}\"/>\n    </properties>\n",
                     exit_code_of(verdict.outcome));
  const std::string body = details(verdict);
  for (const TestCase& test : cases) xml += test_case_xml(test, body);
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace ddbench::reports
