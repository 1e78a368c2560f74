#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/text.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;
using store::RunState;

TableCell state_cell(const store::RunRecord& run) {
  if (run.state == RunState::kDone && !run.valid) return {"invalid", Tone::kBad};
  const Tone tone = run.state == RunState::kDone      ? Tone::kGood
                    : run.state == RunState::kRunning ? Tone::kWarning
                                                      : Tone::kBad;
  return {std::string(store::to_string(run.state)), tone};
}

std::string step_time(const RunSummary& run) {
  return run.step_time_ns ? time_in_words(run.step_time_ns->value) : "–";
}

}  // namespace

std::string run_list_text(const std::vector<RunSummary>& runs, const TextStyle& style) {
  if (runs.empty()) return "no runs\n";
  Table table({{"run", Align::kLeft},
               {"state", Align::kLeft},
               {"GPUs"},
               {"efficiency"},
               {"step time"},
               {"samples/s"},
               {"prov.", Align::kLeft},
               {"workload", Align::kLeft, true},
               {"name", Align::kLeft, true}});
  std::uint32_t provenances = 0;
  bool any_efficiency = false;
  for (const RunSummary& run : runs) {
    const RunCase& run_case = run.run.run_case;
    const bool usable = run.run.valid && run.efficiency;
    provenances |= run.run.provenance.bits();
    any_efficiency |= usable;
    table.add_row({{visible(run.run.id)},
                   state_cell(run.run),
                   {has_known_placement(run.run) ? fmt::format("{}×{}", run_case.nodes, run_case.gpus_per_node)
                                                 : fmt::format("?×?={}", run_case.world_size())},
                   {usable ? percent_in_words(run.efficiency.value().value) : "–"},
                   {step_time(run)},
                   {run.samples_per_s ? number(*run.samples_per_s, 4) : "–"},
                   {provenance_in_letters(run.run.provenance)},
                   {visible(run_case.workload)},
                   {visible(run_case.name)}});
  }
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  std::string text =
      table.render(paint, 0, width) + "\n" +
      paint(Tone::kFaint, fitted(provenance_legend(ProvenanceSet::from_bits(provenances)), width)) + "\n";
  if (any_efficiency)
    text += paint(Tone::kFaint,
                  fitted("efficiency: of each run alone; `ddbench show RUN` has its interval", width)) +
            "\n";
  return text;
}

}  // namespace ddbench::reports
