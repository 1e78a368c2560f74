#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/cli/options/launcher_options.h"
#include "harness/cli/options/program_options.h"
#include "harness/cli/options/step_options.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// The options that `run` and `sweep` share, as given. Nodes, GPUs, batch and link are added by the two
/// themselves: `run` takes one value of each, `sweep` lists.
struct RunOptions {
  RunCase run_case;
  std::string device = "auto";
  std::string backend = "auto";
  std::string workload = "mlp";
  std::vector<std::string> workload_options;  ///< "key=value"
  std::vector<std::string> strategy_options;  ///< "key=value"
  std::vector<std::string> tags;              ///< "key=value"
  double bucket_mb = 25;
  std::optional<double> timeout_s;  ///< --timeout, where it was given
  double grace_s = 20;
  bool no_metadata = false;
  bool no_mlflow = false;
  ProgramOptions program;
  LauncherCommandOptions launcher;
  StepOptions steps;
  Repeats repeats;  ///< of them, by resolve()
  std::string db;
  bool json = false;
  bool quiet = false;

  /// How long a program computes or evaluates between two collectives is its own business; one size of a microbenchmark may take
  /// minutes over a slow link.
  std::chrono::milliseconds watchdog(const RunCase& of) const;
  std::chrono::milliseconds grace() const;
};

void add_run_options(CLI::App& app, RunOptions& options);
/// --sku and --no-metadata alone, for a command that has few of the others.
void add_sku_options(CLI::App& app, RunOptions& options, const char* group);

/// Puts the values given as text into the case and checks them. Throws Error{kBadInput} naming the option.
void resolve(RunOptions& options);

/// Refuses DDBENCH_INJECT with a rank that `run_case`, the largest one of those to be run, does not have: nothing would be injected.
/// Throws Error{kBadInput} naming it; also for what cannot be read.
void check_injected(const RunCase& run_case);

/// The bytes of --bucket-mb. Throws Error{kBadInput} naming it unless it is a number above 0 and at most
/// 1,000,000.
std::int64_t bucket_bytes_of(const std::string& mebibytes);

/// "key=value" of `option`; throws Error{kBadInput} otherwise.
std::pair<std::string, std::string> key_and_value(const std::string& text, const std::string& option);

/// "1,2,4" of `option`. Throws Error{kBadInput} that names the option and the part that is none of T.
std::vector<std::int64_t> integer_list(const std::string& text, const std::string& option);
std::vector<std::string> text_list(const std::string& text, const std::string& option);

}  // namespace ddbench::cli
