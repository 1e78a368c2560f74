#include <fmt/format.h>

#include "reports/formats/gate/gate.h"
#include "reports/formats/markdown/document.h"
#include "reports/tables/gate/gate_tables.h"
#include "reports/tables/gate/gate_words.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::GateOutcome;
using analyzer::GateVerdict;
using analyzer::MetricVerdict;

const char* mark_of(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPass: return "✅";
    case GateOutcome::kRegression: return "❌";
    case GateOutcome::kInconclusive: break;
  }
  return "⚠️";
}

std::string list(const char* title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = fmt::format("\n**{}**\n\n", title);
  for (const std::string& sentence : sentences) text += "- " + markdown_text(sentence) + "\n";
  return text;
}

std::string how_it_was_measured(const GateVerdict& verdict) {
  std::string text = "\n<details><summary>How it was measured</summary>\n\n";
  text += "- baseline: " + markdown_text(side_in_words(verdict.baseline)) + "\n";
  text += "- candidate: " + markdown_text(side_in_words(verdict.candidate)) + "\n";
  for (const MetricVerdict& metric : verdict.metrics) {
    if (!metric.estimate) continue;
    text += fmt::format("- {}: {}\n", markdown_code(to_string(metric.metric)),
                        markdown_text(metric.estimate->change_interval.method));
  }
  for (const std::string& note : verdict.notes) text += "- " + markdown_text(note) + "\n";
  return text + "\n</details>\n";
}

}  // namespace

std::string gate_markdown(const GateVerdict& verdict) {
  std::string text = "<!-- ddbench gate -->\n";
  text +=
      fmt::format("### {} ddbench gate: {}\n\n", mark_of(verdict.outcome), outcome_in_words(verdict.outcome));
  text += fmt::format("{} (exit code {})\n", markdown_text(verdict.headline), exit_code_of(verdict.outcome));
  if (!verdict.metrics.empty()) {
    text += "\n" + markdown::table_text(metrics_data(verdict));
  }
  text += list("What moved", verdict.explanation);
  text += list("Why there is no verdict", verdict.reasons);
  return text + how_it_was_measured(verdict);
}

}  // namespace ddbench::reports
