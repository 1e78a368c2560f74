#include <fmt/format.h>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <span>
#include <sstream>

#include "core/error.h"
#include "core/library_error/as_error.h"
#include "harness/cli/help/usage_error.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"

namespace ddbench::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  ddbench run --nodes 4 --gpus 4                 16 ranks on 4 nodes; efficiency, and where it was lost
  ddbench run --nodes 2 --gpus 2 --link 1gbit    the same over a slow network
  ddbench sweep --nodes 1,2,4 --gpus 1,2         a scaling table
  ddbench show last --json                       the last run, for a program

Exit codes: 0 success, 1 the run failed, 2 bad usage or input, 3 regression found, 4 no verdict,
5 the environment lacks something, 130 interrupted or preempted)";

int complain(const std::string& message, int exit_code) {
  print_error(fmt::format("ddbench: {}\n", printable(message)));
  return exit_code;
}

/// Threads get stacks of this limit, too. What is smaller ends in SIGSEGV somewhere in a library.
constexpr rlim_t kSmallestStack_bytes = 256 * 1024;

bool has_too_small_a_stack() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kSmallestStack_bytes;
}

/// --help and --version: to where a failed write is noticed.
int print_information(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text, remarks;
  const int exit_code = app.exit(error, text, remarks);
  print(text.str());
  print_error(remarks.str());
  return exit_code;
}

int parse_and_act(int argc, char** argv) {
  CLI::App app{"Scaling profiler and benchmark suite for distributed data-parallel training", "ddbench"};
  app.set_version_flag("--version", "ddbench " DDBENCH_VERSION);
  app.require_subcommand(1);
  Action action;
  add_run_command(app, action);
  add_sweep_command(app, action);
  add_micro_command(app, action);
  add_show_command(app, action);
  add_list_command(app, action);
  add_report_command(app, action);
  add_gate_command(app, action);
  add_gui_command(app, action);
  add_serve_command(app, action);
  add_history_command(app, action);
  add_baseline_command(app, action);
  add_doctor_command(app, action);
  add_scaling_command(app, action);
  add_predict_command(app, action);
  add_advise_command(app, action);
  add_diagnose_command(app, action);
  add_batch_command(app, action);
  add_fit_command(app, action);
  add_compare_command(app, action);
  add_import_command(app, action);
  add_db_command(app, action);
  add_explain_command(app, action);
  add_completion_command(app, action);
  add_man_command(app, action);
  add_worker_command(app, action);
  app.footer(kFooter);  // after the subcommands, which would inherit it
  if (argc > 0) check_command(app, {argv + 1, argv + argc});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_information(app, error);
    return complain(usage_error_in_words(app, error, {argv + 1, argv + argc}),
                    static_cast<int>(ErrorCode::kBadInput));
  }
  return action();
}

}  // namespace

// The one place where the executable catches: an Error becomes its exit code.
int guarded_main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // `ddbench show | head` is no failure of ours
  // A file at the limit of `ulimit -f` is an error of its write, and not our death. Handled, not ignored:
  // programs that we start have their default.
  std::signal(SIGXFSZ, [](int) {});
  try {
    const int exit_code = parse_and_act(argc, argv);
    flush_output();
    return exit_code;
  } catch (const Error& error) {
    return complain(error.message(), error.exit_code());
  } catch (const std::exception& error) {
    const Error failure = as_error(error);
    const bool is_known = failure.code() == ErrorCode::kEnvironment;  // memory, threads
    return complain(is_known ? failure.message() : "internal error: " + failure.message(), failure.exit_code());
  }
}

}  // namespace ddbench::cli

int main(int argc, char** argv) {
  if (ddbench::cli::has_too_small_a_stack()) {
    std::fputs("ddbench: the limit of the stack (`ulimit -s`) is below 256 KiB: raise it\n", stderr);
    return static_cast<int>(ddbench::ErrorCode::kEnvironment);
  }
  return ddbench::cli::guarded_main(argc, argv);
}
