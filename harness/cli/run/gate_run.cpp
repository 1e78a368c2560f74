#include "harness/cli/run/gate_run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

#include "core/error.h"
#include "core/run_case/case_diff.h"
#include "core/run_case/program_case.h"
#include "harness/cli/options/output.h"
#include "harness/cli/run/single_run.h"
#include "harness/cli/run/run_sku.h"
#include "harness/experiment/run/execute_run.h"

namespace ddbench::cli {
namespace {

constexpr std::array<const char*, 2> kSideNames{"baseline", "candidate"};
constexpr int kMostPairs = 1000;

/// What belongs to the gate as a whole, not to one of its sides.
constexpr std::array<const char*, 4> kNotOfASide{"--repeat", "--db", "--json", "--quiet"};

/// A side consists of the arguments of `ddbench run`; a nested gate, or a report, has no steps.
void refuse_nested(const SingleRunOptions& options, const std::string& arguments) {
  const auto is_ddbench = [](const std::string& word) { return std::filesystem::path(word).filename() == "ddbench"; };
  const std::vector<std::string>& program = options.program.program;
  const std::string first = arguments.substr(0, arguments.find_first_of(" \t\n"));
  if (!is_ddbench(first) && std::none_of(program.begin(), program.end(), is_ddbench)) return;
  throw Error(ErrorCode::kBadInput,
              "ddbench would run ddbench. A side is the arguments of `ddbench run` alone, e.g. '--gpus 4' or "
              "'--gpus 2 -- python3 train.py'");
}

void refuse_different_workloads(const RunCase& baseline, const RunCase& candidate) {
  if (work_name(baseline.work) == work_name(candidate.work)) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("--run compares one workload in two versions, but the baseline is {} and the candidate {}",
                          work_in_words(baseline), work_in_words(candidate)));
}

/// Strings of the command line's second level: a mistake names the side.
SingleRunOptions parse_side(const std::string& arguments, const char* side) {
  SingleRunOptions options;
  CLI::App parser{"", "ddbench run"};
  parser.set_help_flag();
  add_single_run_options(parser, options);
  try {
    parser.parse(arguments, false);
    refuse_nested(options, arguments);
    refuse_inapplicable(parser, options.program);
    for (const char* name : kNotOfASide) {
      if (parser.get_option(name)->count() == 0) continue;
      throw Error(ErrorCode::kBadInput, fmt::format("{} belongs to gate, not to one of its sides", name));
    }
    resolve_single_run(options);
    if (has_started_ranks(options))
      throw Error(ErrorCode::kBadInput, "a gate makes several runs, and ranks that others started (--launcher env) serve one. Make "
                                        "the runs with `ddbench sweep` and compare them with --baseline and --candidate");
    ask_machine(options, options.run_case);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("--run, {} \"{}\": {}", side, arguments, error.what()));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("--run, {} \"{}\": {}", side, arguments, error.message()));
  }
  return options;
}

bool usable(const store::RunRecord& run) {
  return run.state == store::RunState::kDone && run.valid;
}

}  // namespace

struct PairedRuns::Impl {
  struct Side {
    std::string arguments;
    SingleRunOptions options;
    store::RunId baseline_id;
    std::vector<store::RunRecord> runs;
  };

  int pairs = 0;
  bool quiet = false;
  analyzer::GatePolicy policy;
  std::array<Side, 2> sides;
  std::string sweep_id = "gate-" + store::new_run_id();

  void measure_baselines(store::RunStore& store, ProgressLine& progress);
  bool measure_pairs(store::RunStore& store, ProgressLine& progress, int round);
  store::RunRecord measure_one(Side& side, store::RunStore& store, ProgressLine& progress);
  analyzer::GateSide judged(const Side& side, const store::RunStore& store) const;
};

PairedRuns::PairedRuns(PairedRunRequest request, analyzer::GatePolicy policy)
    : impl_(std::make_unique<Impl>()) {
  if (request.pairs < policy.min_pairs || request.pairs > kMostPairs) {
    throw Error(ErrorCode::kBadInput, fmt::format("--pairs is {}, but it must be from {} (min_pairs) to {}",
                                                  request.pairs, policy.min_pairs, kMostPairs));
  }
  impl_->pairs = request.pairs;
  impl_->quiet = request.quiet;
  const std::array<std::string, 2> arguments{request.arguments.first, request.arguments.second};
  for (std::size_t i = 0; i < 2; ++i) {
    impl_->sides[i].arguments = arguments[i];
    impl_->sides[i].options = parse_side(arguments[i], kSideNames[i]);
    impl_->sides[i].options.run_case.tags["gate"] = kSideNames[i];
  }
  refuse_different_workloads(impl_->sides[0].options.run_case, impl_->sides[1].options.run_case);
  for (const FieldDifference& difference :
       case_diff(impl_->sides[0].options.run_case, impl_->sides[1].options.run_case)) {
    policy.vary.insert(difference.field);
    // Two commands may be one script in two folders. Edited between the runs of one command, it is no pair.
    if (difference.field.starts_with("workload_options.")) policy.vary.insert(std::string(kScriptField));
  }
  impl_->policy = std::move(policy);
}

PairedRuns::~PairedRuns() = default;

/// Only the metric efficiency needs them; both sides then stand on the same run where their cases allow it.
void PairedRuns::Impl::measure_baselines(store::RunStore& store, ProgressLine& progress) {
  const auto& metrics = policy.metrics;
  if (std::find(metrics.begin(), metrics.end(), analyzer::RunMetric::kEfficiency) == metrics.end()) return;
  for (Side& side : sides) {
    experiment::ExecuteOptions execute;
    execute.executable = own_executable();
    execute.watchdog = side.options.watchdog(side.options.run_case);
    execute.launcher = side.options.launcher.launcher;
    execute.preemption_grace = side.options.grace();
    side.baseline_id = obtain_baseline(side.options, execute, store, progress);
  }
}

store::RunRecord PairedRuns::Impl::measure_one(Side& side, store::RunStore& store, ProgressLine& progress) {
  experiment::ExecuteOptions execute;
  execute.executable = own_executable();
  execute.watchdog = side.options.watchdog(side.options.run_case);
  execute.launcher = side.options.launcher.launcher;
  execute.preemption_grace = side.options.grace();
  execute.sets_rank_variables = side.options.names_ranks;
  execute.sweep_id = sweep_id;
  execute.baseline_id = side.baseline_id;
  execute.repetition = static_cast<int>(side.runs.size());
  store::RunRecord run = experiment::execute_run(side.options.run_case, execute, store, progress);
  progress.finish();
  if (store::was_stopped(run.state))
    throw Error(ErrorCode::kInterrupted, fmt::format("{}: {}", store::to_string(run.state), run.reason));
  side.runs.push_back(run);
  return run;
}

/// False when a run failed: then the rest would measure nothing that a verdict may stand on.
bool PairedRuns::Impl::measure_pairs(store::RunStore& store, ProgressLine& progress, int round) {
  const std::vector<bool> candidate_first = analyzer::interleaved_order(
      pairs, std::hash<std::string>{}(sweep_id) + static_cast<std::size_t>(round));
  for (int pair = 0; pair < pairs; ++pair) {
    for (int turn = 0; turn < 2; ++turn) {
      const std::size_t side = candidate_first[static_cast<std::size_t>(pair)] == (turn == 0) ? 1 : 0;
      progress.set_heading(
          fmt::format("[pair {}/{}] {}", round * pairs + pair + 1, (round + 1) * pairs, kSideNames[side]));
      if (!usable(measure_one(sides[side], store, progress))) return false;
    }
  }
  return true;
}

analyzer::GateSide PairedRuns::Impl::judged(const Side& side, const store::RunStore& store) const {
  analyzer::GateSide result;
  result.reference = side.arguments;
  result.meaning = fmt::format("ddbench run {}", side.arguments);
  result.missing = "the first run of the other side failed";
  result.runs = analyzer::measure_runs(store, side.runs);
  return result;
}

analyzer::GateVerdict PairedRuns::measure(store::RunStore& store) {
  ProgressLine progress(impl_->quiet);
  impl_->measure_baselines(store, progress);
  for (int round = 0;; ++round) {
    const bool complete = impl_->measure_pairs(store, progress, round);
    analyzer::GateVerdict verdict =
        judge(impl_->judged(impl_->sides[0], store), impl_->judged(impl_->sides[1], store), impl_->policy);
    const bool again =
        verdict.outcome == analyzer::GateOutcome::kRegression && round < impl_->policy.repeat_on_fail;
    if (again && complete) continue;
    if (round > 0) {
      verdict.notes.push_back(
          fmt::format("a regression was measured again: {} pairs in {} rounds, judged together",
                      impl_->sides[0].runs.size(), round + 1));
    }
    return verdict;
  }
}

}  // namespace ddbench::cli
