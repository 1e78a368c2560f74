#include <fmt/format.h>

#include <algorithm>

#include "analyzer/diagnose/diagnose_run.h"
#include "core/text/quantity.h"
#include "reports/formats/diagnose/diagnosis.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/tables/next_steps.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::Diagnosis;

class DiagnosisText {
 public:
  explicit DiagnosisText(const TextStyle& style)
      : paint_(style.color), width_(static_cast<std::size_t>(std::max(style.width, 40))) {}

  void add(Tone tone, const std::string& text, const std::string& lead = "", const std::string& follow = "") {
    std::string before = lead;
    for (const std::string& line : wrapped(visible(text), width_ - std::min(width_ - 1, lead.size()))) {
      text_ += before + paint_(tone, line) + "\n";
      before = follow;
    }
  }
  void add_list(const char* title, const std::vector<std::string>& lines, Tone tone = Tone::kPlain) {
    if (lines.empty()) return;
    text_ += "\n" + paint_(Tone::kStrong, title) + "\n";
    for (const std::string& line : lines) add(tone, line, "  ", "    ");
  }
  std::string text() { return std::move(text_); }

 private:
  Paint paint_;
  std::size_t width_;
  std::string text_;
};

std::vector<std::string> evidence_of(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  for (const analyzer::Evidence& evidence : diagnosis.evidence)
    lines.push_back(fmt::format("step {} of rank {}: {}", evidence.step, evidence.rank, evidence.what));
  return lines;
}

std::vector<std::string> figures_of(const Diagnosis& diagnosis) {
  std::vector<std::string> lines = {
      fmt::format("lost to waiting for the slowest rank: {} of the step, over {} steps", percent_in_words(diagnosis.lost_share),
                  diagnosis.steps)};
  if (!analyzer::is_accusation(diagnosis.cause) || diagnosis.cause == analyzer::Cause::kLateStart) return lines;
  lines.push_back(fmt::format("cost: {} of the step, in steps {} to {}", percent_in_words(diagnosis.cost_share),
                              diagnosis.first_step, diagnosis.last_step));
  lines.push_back(fmt::format("explains {} of the wait", percent_in_words(diagnosis.explained)));
  return lines;
}

}  // namespace

std::string diagnosis_section(const store::RunId& run, const Diagnosis& diagnosis, const std::string& db, const TextStyle& style) {
  DiagnosisText text(style);
  text.add_list("Who is slow", {analyzer::verdict_in_words(diagnosis)});
  if (diagnosis.cause != analyzer::Cause::kHealthy)
    text.add(Tone::kFaint, "evidence and next checks: " + in_store("ddbench diagnose " + run, db), "  ", "  ");
  return text.text();
}

std::string diagnosis_text(const store::RunRecord& run, const Measured<Diagnosis>& diagnosis, const TextStyle& style) {
  DiagnosisText text(style);
  const bool ended_well = run.state == store::RunState::kDone || run.state == store::RunState::kRunning;
  if (!ended_well && !run.reason.empty()) text.add(Tone::kAlarm, fmt::format("{}: {}", store::to_string(run.state), run.reason));
  if (!diagnosis) {
    text.add(Tone::kPlain, analyzer::verdict_or_reason(diagnosis));
    return text.text();
  }
  const Tone tone = diagnosis->cause == analyzer::Cause::kHealthy ? Tone::kGood
                    : analyzer::is_accusation(diagnosis->cause)   ? Tone::kBad
                                                                  : Tone::kWarning;
  text.add(tone, analyzer::verdict_in_words(*diagnosis));
  text.add(Tone::kFaint, fmt::format("run {} · {}", run.id, provenance_in_words(run.provenance)));
  text.add_list("Figures", figures_of(*diagnosis));
  if (!diagnosis->confidence.empty()) text.add_list("Confidence", {diagnosis->confidence});
  text.add_list("Evidence (open these in the timeline)", evidence_of(*diagnosis));
  text.add_list("Next", diagnosis->next_checks);
  text.add_list("Notes", diagnosis->notes, Tone::kWarning);
  return text.text();
}

}  // namespace ddbench::reports
