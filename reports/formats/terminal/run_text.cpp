#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/run_case/program_case.h"
#include "core/text/quantity.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/formats/terminal/step_sections.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::Efficiency;
using analyzer::RunSummary;
using store::RunState;

class RunText {
 public:
  RunText(const RunSummary& summary, const TextStyle& style)
      : summary_(summary),
        run_case_(summary.run.run_case),
        paint_(style.color),
        width_(static_cast<std::size_t>(std::max(style.width, 20))) {}

  std::string write() {
    write_header();
    write_state();
    write_headline();
    write_figures();
    write_section(partition_section(summary_, paint_, width_));
    write_section(waterfall_section(summary_, paint_, width_));
    write_program_tables();
    write_section(collectives_section(summary_, paint_, width_));
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
                                           shape_in_words(summary_.run),
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
      return;
    }
    const Efficiency& efficiency = *summary_.efficiency;
    const int base_gpus = efficiency.baseline.run_case.world_size();
    const Tone tone = efficiency.value < 0.5   ? Tone::kBad
                      : efficiency.value < 0.8 ? Tone::kWarning
                                               : Tone::kGood;
    const std::string headline =
        fmt::format("efficiency {} against {}", percent_in_words(efficiency.value), gpus_in_words(base_gpus));
    const std::string detail = fmt::format(
        "  speedup {} of {}{}", number(efficiency.speedup), number(1.0 * run_case_.world_size() / base_gpus),
        efficiency.serial_fraction ? fmt::format(", serial fraction {}", number(*efficiency.serial_fraction))
                                   : "");
    text_ +=
        paint_(tone, headline) + fitted(detail, width_ - std::min(width_, display_width(headline))) + "\n";
    for (const std::string& line : wrapped(efficiency_interval_in_words(efficiency), width_))
      write_line(Tone::kFaint, line);
    for (const std::string& line : wrapped(where_lost(summary_), width_)) write_line(Tone::kPlain, line);
  }

  void write_figures() {
    for (const std::string& line : wrapped(visible(end_in_words(summary_)), width_))
      write_line(Tone::kFaint, line);
    text_ += "\n";
    Table table({{"", Align::kLeft}, {"", Align::kLeft}, {"", Align::kLeft, true}});
    const auto add = [&](const char* name, const std::string& value, const std::string& detail) {
      table.add_row({{name, Tone::kFaint}, {value}, {detail, Tone::kFaint}});
    };
    const auto why = [](const std::string& reason) { return visible(reason); };
    if (const auto& step = summary_.step_time_ns) {
      const auto& interval = step->interval;
      add("step time", time_in_words(step->value),
          interval ? interval_in_words(*interval) : why(interval.reason()));
      if (interval) add("", "", interval->method);
      add_distribution(table);
    } else {
      add("step time", "not known", why(step.reason()));
    }
    const ThroughputInWords throughput = throughput_in_words(summary_);
    add("throughput", throughput.value, why(throughput.detail));
    add_utilisation(table);
    add_loss(table);
    add_communication(table);
    add_probes(table);
    text_ += table.render(paint_, 0, width_);
  }

  void add_distribution(Table& table) const {
    const analyzer::StepDistribution& steps = *summary_.distribution;
    const std::string skew =
        run_case_.world_size() > 1 ? fmt::format("; ranks differ by {}", time_in_words(steps.skew_ns)) : "";
    table.add_row({{"steps", Tone::kFaint},
                   {fmt::format("p50 {}", time_in_words(steps.p50_ns))},
                   {fmt::format("p95 {}, p99 {}, max {}{}", time_in_words(steps.p95_ns),
                                time_in_words(steps.p99_ns), time_in_words(steps.max_ns), skew),
                    Tone::kFaint}});
    if (const std::string outliers = outliers_in_words(steps); !outliers.empty())
      table.add_row({{""}, {""}, {outliers, Tone::kFaint}});
  }

  static std::string interval_in_words(const ConfidenceInterval& interval) {
    return fmt::format("{:.0f}% CI {} to {}", 100 * interval.level, time_in_words(interval.low),
                       time_in_words(interval.high));
  }

  void add_utilisation(Table& table) const {
    const analyzer::Utilisation& used = summary_.utilisation;
    if (!used.mfu) return;
    const bool is_gpu = run_case_.device == "cuda";
    const std::string what = fmt::format("{}{}", is_gpu ? "GPU" : "core", used.devices == 1 ? "" : "s");
    const std::string peak = fmt::format("of {} {} of {} TFLOP/s ({})", used.devices, what,
                                         number(*used.peak_tflops), is_gpu ? "catalogue" : "measured GEMM");
    table.add_row({{"MFU", Tone::kFaint}, {percent_in_words(*used.mfu)}, {peak, Tone::kFaint}});
    if (!used.hfu || *used.hfu == *used.mfu) return;
    table.add_row({{"HFU", Tone::kFaint},
                   {percent_in_words(*used.hfu)},
                   {"including recomputation in backward", Tone::kFaint}});
  }

  void add_loss(Table& table) const {
    if (!summary_.loss_first || !summary_.loss_last) {
      const auto& missing = summary_.loss_first ? summary_.loss_last : summary_.loss_first;
      table.add_row({{"loss", Tone::kFaint}, {"not known"}, {visible(missing.reason()), Tone::kFaint}});
      return;
    }
    table.add_row({{"loss", Tone::kFaint},
                   {fmt::format("{} → {}", number(*summary_.loss_first, 4), number(*summary_.loss_last, 4))},
                   {"first and last step, mean over ranks", Tone::kFaint}});
  }

  void add_communication(Table& table) const {
    if (run_case_.world_size() == 1 || summary_.probed_steps == 0) return;
    const auto time = [](std::int64_t value_ns) { return time_in_words(static_cast<double>(value_ns)); };
    const double communication = static_cast<double>(std::max<std::int64_t>(summary_.communication_ns, 1));
    const auto& overlap_ns = summary_.overlap_ns;
    const std::int64_t waited_inside =
        overlap_ns ? summary_.communication_ns - *overlap_ns - *summary_.exposed_communication_ns : 0;
    const std::string hidden =
        overlap_ns ? fmt::format("a step: {} exposed, {} ({}) hidden",
                                 time(*summary_.exposed_communication_ns), time(*overlap_ns),
                                 percent_in_words(static_cast<double>(*overlap_ns) / communication))
                   : "a step; what compute hid of it is not known";
    table.add_row(
        {{"communication", Tone::kFaint}, {time(summary_.communication_ns)}, {hidden, Tone::kFaint}});
    if (waited_inside > 0)
      table.add_row({{""}, {""}, {time(waited_inside) + " of it without a core", Tone::kFaint}});
    if (overlap_ns && *overlap_ns > 0) {
      const auto& interval = summary_.overlap_interval;
      table.add_row({{""},
                     {""},
                     {"overlap: " + (interval ? interval_in_words(*interval) : visible(interval.reason())),
                      Tone::kFaint}});
    }
    add_contention(table);
    const auto& wait = summary_.peer_wait_ns;
    const std::int64_t uncertainty_ns = summary_.peer_wait_uncertainty_ns;
    table.add_row({{"peer wait", Tone::kFaint},
                   {wait ? time(*wait) : "not known"},
                   {wait ? "per step; until the last rank arrived (exposed or hidden)" +
                               (uncertainty_ns > 0 ? ", ±" + time(uncertainty_ns) : std::string())
                         : visible(wait.reason()),
                    Tone::kFaint}});
  }

  void add_contention(Table& table) const {
    if (const auto& waited = summary_.cpu_wait_ns; !waited)
      table.add_row({{"CPU wait", Tone::kFaint}, {"not known"}, {visible(waited.reason()), Tone::kFaint}});
    const auto& slower = summary_.compute_slowdown_percent;
    if (!slower) {
      table.add_row({{"slowdown", Tone::kFaint},
                     {"not known"},
                     {"of compute beside communication: " + visible(slower.reason()), Tone::kFaint}});
      return;
    }
    const ConfidenceInterval& interval = slower->interval;
    table.add_row({{"slowdown", Tone::kFaint},
                   {fmt::format("{:+.1f}%", slower->value)},
                   {fmt::format("of compute beside communication, {:.0f}% CI {:+.1f} to {:+.1f}%",
                                100 * interval.level, interval.low, interval.high),
                    Tone::kFaint}});
  }

  void add_probes(Table& table) const {
    const auto& overhead = summary_.probe_overhead_percent;
    std::string dropped =
        fmt::format("{} spans dropped", count_in_words(static_cast<std::int64_t>(summary_.dropped_spans)));
    if (const auto& account = summary_.probe_account_ns)
      dropped = fmt::format("direct account {}; {}", time_in_words(*account), dropped);
    if (!overhead) {
      table.add_row({{"probes", Tone::kFaint},
                     {"cost not known"},
                     {visible(overhead.reason()) + "; " + dropped, Tone::kFaint}});
      return;
    }
    const ConfidenceInterval& interval = overhead.value().interval;
    table.add_row({{"probes", Tone::kFaint},
                   {fmt::format("at most {:.1f}%", std::max(0.0, interval.high))},
                   {fmt::format("of a step, {:.0f}% CI {:.2f} to {:.2f}%", 100 * interval.level, interval.low,
                                interval.high),
                    Tone::kFaint}});
    table.add_row({{""}, {""}, {dropped, Tone::kFaint}});
  }

  /// The alarm at the top has said already what is invalid.
  std::vector<std::string> notes_below_the_alarm() const {
    std::vector<std::string> notes = summary_.notes;
    if (!summary_.run.valid)
      std::erase_if(notes, [](const std::string& note) { return note.rfind("INVALID", 0) == 0; });
    return notes;
  }

  void write_program_tables() {
    if (!is_program(run_case_)) return;
    write_section(data_table_text(gaps_data(summary_), paint_, width_));
    constexpr std::size_t kMostOperators = 8;
    if (const DataTable operators = kernels_data(summary_, kMostOperators); !operators.rows.empty())
      write_section(data_table_text(operators, paint_, width_));
  }

  void write_section(const std::string& section) {
    if (!section.empty()) text_ += "\n" + section;
  }

  const RunSummary& summary_;
  const RunCase& run_case_;
  Paint paint_;
  std::size_t width_;
  std::string text_;
};

}  // namespace

std::string run_text(const RunSummary& summary, const TextStyle& style) {
  return RunText(summary, style).write();
}

}  // namespace ddbench::reports
