#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run_case/program_case.h"
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

/// The command lines of a list, which no column has room for: "program 1" stands for the first one below the table.
class CommandLegend {
 public:
  std::string label(const RunCase& run_case) {
    if (!is_program(run_case)) return visible(run_case.workload);
    const std::string command = command_of(run_case);
    auto found = std::find(commands_.begin(), commands_.end(), command);
    if (found == commands_.end()) found = commands_.insert(found, command);
    return fmt::format("program {}", found - commands_.begin() + 1);
  }
  std::string text(std::size_t width) const {
    std::string lines;
    for (std::size_t i = 0; i < commands_.size(); ++i)
      lines += fitted(fmt::format("program {}: {}", i + 1, commands_[i]), width) + "\n";
    return lines;
  }

 private:
  static std::string command_of(const RunCase& run_case) try {
    return visible(work_in_words(run_case));
  } catch (const Error&) {  // another tool has written it
    return "not stored";
  }
  std::vector<std::string> commands_;
};

/// Where nobody said how many samples a step has, steps.
std::string rate_of(const RunSummary& run) {
  if (run.samples_per_s) return number(*run.samples_per_s, 4);
  const bool has_steps = run.step_time_ns && run.step_time_ns->value > 0 && is_program(run.run.run_case);
  return has_steps ? number(1e9 / run.step_time_ns->value, 4) + " steps/s" : "–";
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
  CommandLegend commands;
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
                   {rate_of(run)},
                   {provenance_in_letters(run.run.provenance)},
                   {commands.label(run_case)},
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
  return text + paint(Tone::kFaint, commands.text(width));
}

}  // namespace ddbench::reports
