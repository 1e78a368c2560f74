#include "harness/cli/options/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "core/run_case/program_case.h"
#include "core/clock.h"
#include "harness/cli/options/output.h"
#include "reports/formats/prometheus/prometheus.h"

namespace ddbench::cli {
namespace {

constexpr std::int64_t kRenew_ns = 100'000'000;
constexpr std::int64_t kSparse_ns = 10'000'000'000;

volatile std::sig_atomic_t interrupting_signal = 0;
volatile std::sig_atomic_t end_requested = 0;
volatile std::sig_atomic_t asked = 0;

void on_sigterm(int /*signal*/) {
  end_requested = 1;
}

void on_sigusr1(int /*signal*/) {
  asked = 1;
}

/// A closed terminal sends SIGHUP more than once: from the kernel and from the shell.
void on_hangup(int signal) {
  if (interrupting_signal == 0) interrupting_signal = signal;
}

void on_interrupt(int signal) {
  if (interrupting_signal != 0) {
    // The user insists: the kernel ends the ranks with us.
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupting_signal = signal;
}

std::string time_left(double seconds) {
  if (seconds <= 0) return "";
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 60) return fmt::format("   {} s left", whole);
  return fmt::format("   {} min {:02} s left", whole / 60, whole % 60);
}

/// For runs whose number of steps, or samples per step, is not known.
std::string program_text(const experiment::LiveProgress& progress) {
  return fmt::format("{} step{} seen   {:.4g} steps/s   {:.0f}% communication", progress.steps_done,
                     progress.steps_done == 1 ? "" : "s", progress.steps_per_s, 100 * progress.communication_share);
}

std::string progress_text(const experiment::LiveProgress& progress) {
  if (progress.steps_per_s > 0) return program_text(progress);
  std::string text = fmt::format("step {}", progress.steps_done);
  if (progress.steps_total > 0) text += fmt::format("/{}", progress.steps_total);
  if (progress.samples_per_s > 0) text += fmt::format("   {:.0f} samples/s", progress.samples_per_s);
  if (progress.steps_done > 0 && std::isfinite(progress.loss))
    text += fmt::format("   loss {:.4f}", progress.loss);
  return text + time_left(progress.seconds_left);
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {
  interrupting_signal = 0;
  end_requested = 0;
  asked = 0;
  watch(SIGINT, on_interrupt, true);
  watch(SIGTERM, on_sigterm, true);
  watch(SIGUSR1, on_sigusr1, true);
  // Ignored by nohup and by shells that start commands in the background: that is respected.
  watch(SIGHUP, on_hangup, false);
  watch(SIGQUIT, on_interrupt, false);
}

ProgressLine::~ProgressLine() {
  finish();
  for (const auto& [signal, handler] : before_) std::signal(signal, handler);
}

void ProgressLine::watch(int signal, SignalHandler handler, bool even_if_ignored) {
  const SignalHandler before = std::signal(signal, handler);
  if (before == SIG_IGN && !even_if_ignored) {
    std::signal(signal, SIG_IGN);
    return;
  }
  before_.emplace_back(signal, SIG_DFL);
}

void ProgressLine::set_heading(std::string heading) {
  heading_ = std::move(heading);
}

void ProgressLine::on_start(const store::RunRecord& run) {
  last_shown_ns_ = 0;
  end_is_shown_ = false;
  run_id_ = run.id;
  run_name_ = run.run_case.name;
  ranks_of_output_ = is_program_per_node(run.run_case) ? run.run_case.gpus_per_node : 0;
  hang_.clear();
  show(fmt::format("{}: starting {} rank{} (run {})", heading_, run.run_case.world_size(),
                   run.run_case.world_size() == 1 ? "" : "s", run.id));
}

void ProgressLine::on_network(const std::string& /*network*/, const std::string& note) {
  if (!quiet_ && !note.empty()) {
    finish();
    print_error(fmt::format("note: {}\n", printable(note)));
  }
}

void ProgressLine::on_progress(const experiment::LiveProgress& progress) {
  const std::int64_t time_ns = now_ns();
  const bool at_end = progress.steps_total > 0 && progress.steps_done == progress.steps_total;
  const bool is_news = at_end && !end_is_shown_;  // every rank that ends reports this
  if (!is_news && time_ns - last_shown_ns_ < (terminal_ ? kRenew_ns : kSparse_ns)) return;
  last_shown_ns_ = time_ns;
  end_is_shown_ = at_end;
  show(fmt::format("{}: {}", heading_, progress_text(progress)));
}

void ProgressLine::on_output(int rank, const std::string& line) {
  if (quiet_) return;
  if (line_open_) print_error("\r\033[K");  // it is redrawn below the program's output
  line_open_ = false;
  const std::string whose = ranks_of_output_ > 0 ? fmt::format("node {}", rank / ranks_of_output_) : fmt::format("rank {}", rank);
  print_error(fmt::format("[{}] {}\n", whose, printable(line)));
}

void ProgressLine::on_wait(const std::string& what) {
  if (quiet_) return;
  finish();
  print_error(fmt::format("{}\n", printable(what)));
}

bool ProgressLine::interrupted() {
  return interrupting_signal != 0;
}

std::string ProgressLine::interruption() {
  if (interrupting_signal == SIGHUP) return "interrupted by SIGHUP (its terminal was closed)";
  return interrupting_signal == SIGQUIT ? "interrupted by SIGQUIT" : "interrupted";
}

bool ProgressLine::preempted() {
  return end_requested != 0;
}

bool ProgressLine::asked_where() {
  const bool was_asked = asked != 0;
  asked = 0;
  return was_asked;
}

void ProgressLine::on_where(const std::string& ranks) {
  finish();  // also with --quiet: somebody asked
  print_error(printable(ranks) + "\n");
}

void ProgressLine::on_status(const experiment::LiveStatus& status) {
  if (status.is_new && !quiet_) {
    finish();
    print_error(fmt::format("{}: {}\n", heading_, status.verdict.empty() ? "nobody holds the others up any more" : printable(status.verdict)));
  }
  if (!hang_.empty() && status.steps > hang_at_step_) hang_.clear();  // it goes on
  if (hang_.empty()) hang_at_step_ = status.steps;
  if (!metrics_file_.is_wanted()) return;
  constexpr double kNsPerSecond = 1e9;
  metrics_file_.replace(reports::live_prometheus({run_id_, run_name_, status.steps, status.steps_per_s, status.communication_share,
                                                  hang_.empty() ? status.verdict : "hang: " + hang_,
                                                  static_cast<double>(wall_ns()) / kNsPerSecond}));
}

void ProgressLine::on_hang(const std::string& who) {
  hang_ = who;
  if (quiet_) return;
  finish();
  print_error(fmt::format("{}: hang: {}\n", heading_, printable(who)));
}

void ProgressLine::finish() {
  if (line_open_) print_error("\n");
  line_open_ = false;
}

void ProgressLine::show(const std::string& line) {
  if (quiet_) return;
  if (!terminal_) {
    print_error(fmt::format("{}\n", printable(line)));
    return;
  }
  print_error(fmt::format("\r\033[K{}", printable(line)));
  std::fflush(stderr);
  line_open_ = true;
}

}  // namespace ddbench::cli
