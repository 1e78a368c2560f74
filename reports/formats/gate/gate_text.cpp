#include <fmt/format.h>

#include <algorithm>

#include "reports/formats/gate/gate.h"
#include "reports/tables/gate/gate_tables.h"
#include "reports/tables/gate/gate_words.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::GateOutcome;
using analyzer::GateVerdict;
using analyzer::MetricVerdict;

Tone tone_of(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPass: return Tone::kGood;
    case GateOutcome::kRegression: return Tone::kBad;
    case GateOutcome::kInconclusive: break;
  }
  return Tone::kWarning;
}

std::string bullets(std::string_view title, const std::vector<std::string>& sentences, Tone tone,
                    const Paint& paint, std::size_t width) {
  if (sentences.empty()) return {};
  std::string text = "\n" + paint(Tone::kStrong, title) + "\n";
  for (const std::string& sentence : sentences) {
    std::string bullet = "  • ";
    for (const std::string& line : wrapped(visible(sentence), width > 4 ? width - 4 : 1)) {
      text += bullet + paint(tone, line) + "\n";
      bullet = "    ";
    }
  }
  return text;
}

std::vector<std::string> methods(const GateVerdict& verdict) {
  std::vector<std::string> sentences;
  for (const MetricVerdict& metric : verdict.metrics) {
    if (!metric.estimate) continue;
    sentences.push_back(
        fmt::format("{}: {}", to_string(metric.metric), metric.estimate->change_interval.method));
  }
  return sentences;
}

}  // namespace

std::string gate_text(const GateVerdict& verdict, const TextStyle& style) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  std::string text;
  for (const std::string& line : wrapped(visible("gate: " + verdict.headline), width)) {
    text += paint(tone_of(verdict.outcome), line) + "\n";
  }
  text += "\n  baseline   " + visible(side_in_words(verdict.baseline)) + "\n";
  text += "  candidate  " + visible(side_in_words(verdict.candidate)) + "\n";
  if (verdict.outcome != GateOutcome::kInconclusive || !verdict.metrics.empty()) {
    text += "\n" + data_table_text(metrics_data(verdict), paint, width);
  }
  text += bullets("What moved", verdict.explanation, Tone::kPlain, paint, width);
  text += bullets("Why there is no verdict", verdict.reasons, Tone::kWarning, paint, width);
  text += bullets("Measured as", methods(verdict), Tone::kFaint, paint, width);
  const std::string notes = notes_section(verdict.notes, paint, width);
  return notes.empty() ? text : text + "\n" + notes;
}

}  // namespace ddbench::reports
