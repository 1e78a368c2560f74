#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/run_case/program_case.h"
#include "core/text/quantity.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::Efficiency;
using analyzer::RunSummary;
using store::RunState;

constexpr std::size_t kMostOperators = 8;

class RunText {
 public:
  RunText(const RunSummary& summary, const TextStyle& style)
      : summary_(summary),
        run_case_(summary.run.run_case),
        paint_(style.color),
        width_(line_width(style)) {}

  std::string write() {
    write_header();
    write_state();
    write_headline();
    write_table(measures_data(summary_));
    write_table(partition_data(summary_));
    write_table(loss_data(summary_));
    write_table(gaps_data(summary_));
    if (is_program(run_case_)) write_table(kernels_data(summary_, kMostOperators));
    write_table(collectives_data(summary_));
    write_section(notes_section(notes_below_the_alarm(), paint_, width_));
    return std::move(text_);
  }

 private:
  void write_line(Tone tone, const std::string& line) { text_ += paint_(tone, fitted(line, width_)) + "\n"; }

  void write_header() {
    std::vector<std::string> parts = {"run " + visible(summary_.run.id), visible(run_case_.name),
                                      std::string(store::to_string(summary_.run.state))};
    if (const std::string start = utc_time(summary_.run.started_wall_ns); !start.empty()) {
      parts.push_back(start + " UTC");
    }
    for (const std::string& line : joined(parts, "  ", width_)) write_line(Tone::kStrong, line);
    const std::vector<std::string> what = {visible(work_in_words(run_case_)),
                                           shape_in_words(summary_.run.run_case),
                                           scaling_in_words(run_case_),
                                           visible(run_case_.device),
                                           visible(run_case_.backend),
                                           visible(run_case_.strategy),
                                           visible(run_case_.precision),
                                           summary_.run.environment.network.empty()
                                               ? ""
                                               : "network " + visible(summary_.run.environment.network)};
    for (const std::string& line : joined(what, " · ", width_)) write_line(Tone::kPlain, line);
    write_line(Tone::kFaint, "provenance: " + provenance_in_words(summary_.run.provenance));
  }

  void write_alarm(const std::string& message) {
    text_ += "\n";
    for (const std::string& line : wrapped(message, width_)) write_line(Tone::kAlarm, line);
  }

  void write_state() {
    const std::string reason = summary_.run.reason.empty() ? "" : ": " + visible(summary_.run.reason);
    switch (summary_.run.state) {
      case RunState::kDone: break;
      case RunState::kRunning: write_alarm("STILL RUNNING" + reason); break;
      case RunState::kFailed: write_alarm("FAILED" + reason); break;
      case RunState::kInterrupted: write_alarm("INTERRUPTED" + reason); break;
      case RunState::kPreempted: write_alarm("PREEMPTED" + reason); break;
    }
    if (!summary_.run.valid) {
      write_alarm("INVALID, do not use these figures: " + visible(summary_.run.invalid_reason));
    }
  }

  void write_headline() {
    text_ += "\n";
    if (!summary_.efficiency) {
      const std::string line = "no efficiency: " + visible(summary_.efficiency.reason());
      for (const std::string& part : wrapped(line, width_)) write_line(Tone::kStrong, part);
      if (const std::string largest = largest_part(summary_); !largest.empty()) write_line(Tone::kPlain, largest);
      return;
    }
    const Efficiency& efficiency = *summary_.efficiency;
    const int base_gpus = efficiency.baseline.run_case.world_size();
    const Tone tone = tone_of(efficiency_tone(efficiency.value));
    const std::string headline =
        fmt::format("efficiency {} against {}", percent_in_words(efficiency.value), gpus_in_words(base_gpus));
    const std::string detail = fmt::format(
        "  speedup {} of {}{}", number(efficiency.speedup), number(1.0 * run_case_.world_size() / base_gpus),
        efficiency.serial_fraction ? fmt::format(", serial fraction {}", number(*efficiency.serial_fraction))
                                   : "");
    text_ +=
        paint_(tone, headline) + fitted(detail, width_ - std::min<std::size_t>(width_, display_width(headline))) + "\n";
    for (const std::string& line : wrapped(efficiency_interval_in_words(efficiency), width_))
      write_line(Tone::kFaint, line);
    for (const std::string& line : wrapped(visible(where_lost(summary_)), width_)) write_line(Tone::kPlain, line);
  }

  /// The alarm at the top has already stated what is invalid.
  std::vector<std::string> notes_below_the_alarm() const {
    std::vector<std::string> notes = summary_.notes;
    if (!summary_.run.valid)
      std::erase_if(notes, [](const std::string& note) { return note.rfind("INVALID", 0) == 0; });
    return notes;
  }

  void write_table(const DataTable& table) {
    if (!table.rows.empty()) write_section(data_table_text(table, paint_, width_));
  }

  void write_section(const std::string& section) {
    if (!section.empty()) text_ += "\n" + section;
  }

  const RunSummary& summary_;
  const RunCase& run_case_;
  Paint paint_;
  LineWidth width_;
  std::string text_;
};

}  // namespace

std::string run_text(const RunSummary& summary, const TextStyle& style) {
  return RunText(summary, style).write();
}

}  // namespace ddbench::reports
