#include "analyzer/gate/gate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "core/error.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/recover.h"
#include "harness/cli/options/shared_options.h"
#include "harness/cli/run/gate_run.h"
#include "reports/formats/gate/gate.h"
#include "reports/text/output_file.h"

namespace ddbench::cli {
namespace {

struct GateOptions {
  std::string baseline;
  std::string candidate;
  std::pair<std::string, std::string> run;
  std::optional<int> pairs;
  std::string metrics;
  std::string threshold;
  std::string policy;
  std::string vary;
  std::optional<int> repeat_on_fail;
  std::string db;
  std::string markdown;
  std::string junit;
  bool json = false;
  bool quiet = false;
  bool runs_itself = false;
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kBadInput, message);
}

void check_combination(const GateOptions& options) {
  if (options.runs_itself) {
    if (!options.baseline.empty() || !options.candidate.empty()) {
      refuse("--run measures both sides itself: it goes without --baseline and --candidate");
    }
    return;
  }
  if (options.baseline.empty() || options.candidate.empty()) {
    refuse(
        "a gate compares --baseline REF with --candidate REF, or measures both with --run 'ARGS A' 'ARGS B'");
  }
  if (options.pairs) refuse("--pairs says how many pairs --run makes: it goes with --run only");
  if (options.repeat_on_fail) refuse("--repeat-on-fail measures again: it goes with --run only");
}

/// The file's policy, overridden by the command line.
analyzer::GatePolicy policy_of(const GateOptions& options) {
  analyzer::GatePolicy policy =
      options.policy.empty() ? analyzer::GatePolicy() : analyzer::read_policy(options.policy);
  if (!options.metrics.empty()) policy.metrics = analyzer::parse_metrics(options.metrics);
  if (!options.threshold.empty()) {
    policy.threshold = analyzer::parse_share(options.threshold, "--threshold");
    policy.thresholds.clear();
  }
  if (options.repeat_on_fail) policy.repeat_on_fail = *options.repeat_on_fail;
  if (!options.vary.empty()) {
    for (std::string& field : text_list(options.vary, "--vary")) policy.vary.insert(std::move(field));
  }
  analyzer::validate(policy);
  return policy;
}

analyzer::GateVerdict compare_stored(const GateOptions& options, const analyzer::GatePolicy& policy) {
  const auto store = open_store(options.db);
  analyzer::GateSide baseline = analyzer::gate_side(store, options.baseline);
  analyzer::GateSide candidate = analyzer::gate_side(store, options.candidate);
  // A missing baseline is no verdict: a first job has none. What is to be judged has been measured, or its name is wrong.
  if (candidate.runs.empty()) refuse(fmt::format("--candidate {}: {}", options.candidate, candidate.missing));
  return judge(std::move(baseline), std::move(candidate), policy);
}

analyzer::GateVerdict compare_measured(const GateOptions& options, analyzer::GatePolicy policy) {
  PairedRuns runs({options.run, options.pairs.value_or(10), options.quiet || options.json},
                  std::move(policy));
  auto store = open_store(options.db, store::OpenMode::kReadWrite);
  recover_runs(store);
  return runs.measure(store);
}

int gate(const GateOptions& options) {
  check_combination(options);
  analyzer::GatePolicy policy = policy_of(options);
  for (const std::string& file : {options.markdown, options.junit}) {
    // Created and discarded: report an unwritable file before the work, not after it.
    if (!file.empty()) reports::OutputFile probe(file);
  }
  const analyzer::GateVerdict verdict =
      options.runs_itself ? compare_measured(options, std::move(policy)) : compare_stored(options, policy);
  if (!options.markdown.empty()) reports::write_file(options.markdown, reports::gate_markdown(verdict));
  if (!options.junit.empty()) reports::write_file(options.junit, reports::gate_junit(verdict));
  print(options.json ? reports::gate_json(verdict) + "\n" : reports::gate_text(verdict, stdout_style()));
  return exit_code_of(verdict.outcome);
}

constexpr const char* kReferences =
    R"(A REF is a run id, a sweep id, a part of one, a named baseline, a run's name, or conditions
field=value[,field=value], as in name=main,state=done. All runs that it matches are repetitions.

Exit codes: 0 no regression, 3 regression, 4 no verdict (it says why), 2 bad usage, or a candidate that
matches no run)";

}  // namespace

void add_gate_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("gate", "Fail on a real regression, never on noise");
  const auto options = std::make_shared<GateOptions>();
  command->add_option("--baseline", options->baseline, "REF of the runs to compare with");
  command->add_option("--candidate", options->candidate, "REF of the runs to judge");
  CLI::Option* run = command->add_option(
      "--run", options->run, "Measure both sides now, in turns: two texts of `ddbench run` arguments");
  command->add_option("--pairs", options->pairs, "Pairs of runs that --run makes (default 10)");
  command->add_option("--metric", options->metrics,
                      "step_time, throughput, efficiency, exposed, busbw, host_memory, device_memory; default step_time");
  command->add_option("--threshold", options->threshold, "Estimated change for the worse up to which there is no regression (default 3%)");
  command->add_option("--policy", options->policy,
                      "TOML file with metrics, thresholds, ... (reports/README.md)");
  command->add_option("--vary", options->vary, "Fields that are meant to differ, e.g. link,bucket_bytes");
  command->add_option("--repeat-on-fail", options->repeat_on_fail,
                      "With --run: re-measure a regression up to N times before failing");
  add_db_option(*command, options->db);
  command->add_option("--markdown", options->markdown, "Also write the verdict for a pull request's comment");
  command->add_option("--junit", options->junit, "Also write the verdict as JUnit XML");
  add_json_option(*command, options->json, "gate.schema.json");
  add_quiet_option(*command, options->quiet);
  add_examples(*command,
               {{"gate --baseline main --candidate name=pr", "stored runs against a named baseline"},
                {"gate --run '--gpus 4' '--gpus 4 --bucket-mb 5'", "measure both sides now, in turns"},
                {"gate --baseline main --candidate last --threshold 5% --junit gate.xml", "for a CI job"}},
               kReferences);
  command->callback([&action, options, run] {
    options->runs_itself = run->count() > 0;
    action = [options] { return gate(*options); };
  });
}

}  // namespace ddbench::cli
