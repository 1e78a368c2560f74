#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/import/numbers.h"
#include "analyzer/predict/back_test.h"
#include "analyzer/predict/predict_run.h"
#include "analyzer/predict/replay.h"
#include "analyzer/scaling/scaling_curve.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/text/nearest.h"
#include "core/text/quantity.h"
#include "harness/cli/analysis/network_costs.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_selection.h"
#include "harness/cli/options/shared_options.h"
#include "harness/launch/machine/link_rate.h"
#include "harness/training/strategy/strategy_traffic.h"
#include "reports/formats/predict/prediction.h"

namespace ddbench::cli {
namespace {

constexpr double kMostBatchDoublings = 4;
/// TCP over Ethernet with frames of 1,500 bytes: payload over bytes on the wire.
constexpr double kPayloadShare = 1448.0 / 1538.0;

const std::map<std::string, analyzer::CollectiveAlgorithm> kAlgorithms = {
    {"auto", analyzer::CollectiveAlgorithm::kUsual},
    {"ring", analyzer::CollectiveAlgorithm::kRing},
    {"tree", analyzer::CollectiveAlgorithm::kTree},
    {"hierarchical", analyzer::CollectiveAlgorithm::kHierarchical}};

struct PredictCommand {
  std::string db;
  std::string run = "last";
  std::string validate;
  std::vector<int> nodes;
  int gpus = 0;
  std::vector<std::string> networks;
  std::string link;
  std::string algorithm = "auto";
  std::int64_t batch_per_gpu = 0;
  double bucket_mb = 0;
  std::vector<std::string> strategy_options;
  std::string strategy;
  int accumulate = 0;
  double compute_scale = 0;
  std::string sku;
  std::string skus;
  std::vector<std::string> without;
  bool json = false;
};

[[noreturn]] void throw_bad(const std::string& message) {
  throw Error(ErrorCode::kBadInput, message);
}

analyzer::SpecifiedLink link_from(const std::string& text) {
  const std::size_t comma = text.find(',');
  analyzer::SpecifiedLink link;
  link.bytes_per_s = static_cast<double>(launch::parse_link_rate(text.substr(0, comma), {100'000'000'000'000}).bits_per_s) / 8 * kPayloadShare;
  if (comma == std::string::npos) return link;
  const std::string latency = text.substr(comma + 1);
  const std::size_t unit = latency.find_first_not_of("0123456789.");
  const auto value = imports::number_from(latency.substr(0, unit));
  const auto ns = unit == std::string::npos ? std::nullopt : imports::nanoseconds_of(latency.substr(unit));
  if (!value || !ns || *value < 0) throw_bad(fmt::format("--link {}: the latency must be a time as in 1gbit,50us", text));
  link.latency_ns = *value * *ns;
  return link;
}

double sku_speed(const PredictCommand& command, const RunCase& run_case) {
  const std::size_t colon = command.sku.find(':');
  if (colon == std::string::npos) throw_bad(fmt::format("--sku {}: write FROM:TO, two names of the catalogue", command.sku));
  const analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load(command.skus);
  const auto peak = [&](const std::string& name) {
    const analyzer::Sku* sku = catalogue.find_sku(name);
    const analyzer::GpuPeaks* gpu = catalogue.find_gpu(sku == nullptr ? name : sku->gpu);
    if (gpu == nullptr) {
      std::vector<std::string> names;
      for (const analyzer::GpuPeaks& known : catalogue.gpus()) names.push_back(known.name);
      for (const analyzer::Sku& known : catalogue.skus()) names.push_back(known.name);
      const std::string meant = nearest(name, names);
      throw_bad(fmt::format("--sku {}: the catalogue has no peaks of \"{}\"{}", command.sku, name,
                            meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant)));
    }
    const auto found = gpu->peak_tflops.find(run_case.precision);
    if (found == gpu->peak_tflops.end())
      throw_bad(fmt::format("--sku {}: the catalogue has no {} peak of {}", command.sku, run_case.precision, gpu->name));
    return found->second;
  };
  return peak(command.sku.substr(colon + 1)) / peak(command.sku.substr(0, colon));
}

void set_without(const PredictCommand& command, analyzer::WhatIf& what_if) {
  for (const std::string& name : command.without) {
    if (name == "stragglers") {
      what_if.without_stragglers = true;
    } else if (name == "data-wait") {
      what_if.without_data_wait = true;
    } else if (name == "host") {
      what_if.without_host = true;
    } else {
      throw_bad(fmt::format("--without {}: it must be stragglers, data-wait or host", name));
    }
  }
}

void require_strategy(const std::string& name) {
  std::string names;
  for (const ddp::StrategyDescription& strategy : ddp::strategies()) {
    if (strategy.name == name) return;
    names += (names.empty() ? "" : ", ") + strategy.name;
  }
  throw_bad(fmt::format("--strategy {}: the strategies are {}", name, names));
}

/// With the sentence that states its assumption.
void set_half_gradients(const PredictCommand& command, const std::string& option, const RunCase& run_case,
                        const analyzer::StepRecording& steps, analyzer::WhatIf& what_if,
                        std::vector<std::string>& assumptions) {
  const std::string& strategy = command.strategy.empty() ? run_case.strategy : command.strategy;
  if (const std::string why = analyzer::why_not_halved(steps, strategy, run_case); !why.empty())
    throw_bad(fmt::format("-S {}: {}", option, why));
  what_if.half_gradients = true;
  constexpr double kMib = 1 << 20;
  assumptions.push_back(
      "gradients are sent in half the bytes; converting them takes " +
      (analyzer::is_free(steps.conversion)
           ? "no time"
           : fmt::format("{} a MiB, as measured in the run",
                         quantity((steps.conversion->narrow_ns + steps.conversion->widen_ns) * kMib, "ns"))));
}

/// What does not scale in a run on GPUs; empty on a CPU.
std::string but_kernels(const analyzer::StepRecording& steps) {
  for (const analyzer::RankStep& rank : steps.steps.front().ranks) {
    for (const analyzer::StepEvent& event : rank.events) {
      if (event.fixed_ns > 0) return fmt::format(", but for {:g} us of each kernel of a GPU", analyzer::kLeastKernelNs / 1e3);
    }
  }
  return {};
}

/// The changes, each with the sentence that states its assumption.
analyzer::WhatIf what_if_from(const PredictCommand& command, const RunCase& run_case, const analyzer::StepRecording& steps,
                              std::vector<std::string>& assumptions) {
  analyzer::WhatIf what_if;
  set_without(command, what_if);
  if (command.batch_per_gpu > 0) {
    if (!steps.counts_samples)
      throw_bad("--batch-per-gpu: how many samples a step of the run has is not known: record it with --batch-per-gpu");
    what_if.batch_factor = static_cast<double>(command.batch_per_gpu) / steps.samples_per_rank;
    if (std::abs(std::log2(what_if.batch_factor)) > kMostBatchDoublings)
      throw_bad(fmt::format("--batch-per-gpu {}: it cannot be predicted from the run's batch of {}: record a run with a batch that is at "
                            "most 16 times smaller or larger",
                            command.batch_per_gpu, steps.samples_per_rank));
    assumptions.push_back("passes and the loader take time in proportion to the batch" + but_kernels(steps));
  }
  if (command.bucket_mb > 0) what_if.bucket_bytes = command.bucket_mb * (1 << 20);
  for (const std::string& option : command.strategy_options) {
    if (option != "hook=fp16" && option != "hook=bf16")
      throw_bad(fmt::format("-S {}: hook=fp16 and hook=bf16 can be predicted", option));
    set_half_gradients(command, option, run_case, steps, what_if, assumptions);
  }
  if (!command.strategy.empty() && command.strategy != run_case.strategy) {
    require_strategy(command.strategy);
    if (command.strategy == "mirrored" && what_if.bucket_bytes)
      throw_bad("--bucket-mb: mirrored reduces all gradients together and has no buckets");
    what_if.strategy = command.strategy;
  }
  if (command.accumulate > 0) {
    if (run_case.accumulate > 1) throw_bad("--accumulate: the run itself accumulates; record one without");
    what_if.accumulate = command.accumulate;
    assumptions.push_back("a micro-batch takes its share of the passes' time" + but_kernels(steps));
  }
  if (command.compute_scale > 0) what_if.compute_speed = command.compute_scale;
  if (!command.sku.empty()) {
    what_if.compute_speed *= sku_speed(command, run_case);
    assumptions.push_back("compute is as much faster as the catalogue's peak" + but_kernels(steps));
  }
  return what_if;
}

analyzer::CollectiveCosts costs_of_network(const store::RunStore& store, const PredictCommand& command) {
  analyzer::CollectiveCosts costs = network_costs(store, command.networks, command.skus);
  if (!command.link.empty()) {
    costs.set_link(link_from(command.link));
    if (costs.is_nominal()) throw_bad("--link: the SKU of --network has a network of its own: leave out one of them");
  }
  costs.set_algorithm(kAlgorithms.at(command.algorithm));
  return costs;
}

/// Each size is predicted as it was run: there is no other run, size or change to predict.
void refuse_with_validate(const CLI::App& command) {
  static const std::set<std::string> kAllowed{"--validate", "--db", "--network", "--link", "--algorithm", "--skus", "--json"};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || kAllowed.count(option->get_name()) > 0) continue;
    throw_bad(fmt::format("--validate predicts the sizes of a sweep as they were run: leave out {}",
                          option->nonpositional() ? option->get_name() : "RUN"));
  }
}

/// What has no part in the sizes to predict is refused. `nodes` and `gpus`: the most of a size.
void refuse_without_effect(const PredictCommand& command, int nodes, int gpus) {
  if (nodes < 2 && !command.link.empty()) throw_bad("--link: no size that is predicted has several nodes");
  if (gpus < 2 && !command.networks.empty()) throw_bad("--network: no size that is predicted has several GPUs");
}

int validate(const PredictCommand& command) {
  const auto store = open_store(command.db);
  RunSelection selection;
  selection.sweep = command.validate;
  analyzer::CurveOptions options;
  options.if_several = "Give a sweep whose runs differ in size only";
  const analyzer::ScalingCurve curve = analyzer::scaling_curve(store, select_runs(store, selection), options);
  const auto most = [&](auto size) {
    int found = 0;
    for (const auto& row : curve.rows) found = std::max(found, size(row.run_case));
    return found;
  };
  refuse_without_effect(command, most([](const RunCase& own) { return own.nodes; }), most([](const RunCase& own) { return own.world_size(); }));
  const reports::ValidationReport report{analyzer::validated_sizes(curve),
                                         analyzer::replayed_sizes(store, curve, costs_of_network(store, command)),
                                         curve.counts_samples()};
  print(command.json ? reports::validation_json(report) + "\n" : reports::validation_text(report, stdout_style()));
  return 0;
}

/// That the costs of a tier, which the sizes to predict use, are the recorded ones beside --network.
void note_recorded_tier(const PredictCommand& command, int most_nodes, int per_node, const analyzer::StepRecording& steps,
                        const analyzer::CollectiveCosts& costs, std::vector<std::string>& assumptions) {
  const bool network = steps.shape.nodes > 1;
  if (command.networks.empty() || costs.has_tier(network) || !(network ? most_nodes > 1 : per_node > 1)) return;
  assumptions.push_back(fmt::format("collectives {} nodes cost what they did in the run: --network has none",
                                    network ? "between" : "inside of"));
}

/// How far replays were off in the run's own sweep: it widens the intervals.
void use_back_test(const store::RunStore& store, const store::RunRecord& run, analyzer::PredictOptions& options,
                   std::vector<std::string>& assumptions) {
  const auto tested = analyzer::back_test_of(store, run);
  if (!tested) {
    assumptions.push_back(fmt::format("the model is taken to be off by {:.0f}%, as it was on CPU (tests/bench/predict): no sweep of "
                                      "this run shows it ({})", 100 * analyzer::kUsualModelError, tested.reason()));
    return;
  }
  options.model_error = analyzer::model_error(*tested);
  assumptions.push_back(fmt::format("replays of {} {} of its sweep were off by {:.1f}% (root mean square)", tested->sizes,
                                    tested->sizes == 1 ? "size" : "sizes", 100 * tested->log_error));
}

int predict(const PredictCommand& command) {
  if (!command.validate.empty()) return validate(command);
  const auto store = open_store(command.db);
  const store::RunRecord run = store.find(command.run);
  const analyzer::StepRecording steps = replayable(store, run);
  reports::PredictionReport report;
  report.run = run.id;
  report.recorded = steps.shape;
  report.recorded_step_ns = steps.step_ns;
  report.counts_samples = steps.counts_samples;
  report.recorded_samples_per_s = steps.samples_per_rank * steps.shape.gpus() * 1e9 / steps.step_ns;
  report.replay_ratio = analyzer::replay_over_recorded(steps);
  report.assumptions = steps.notes;
  analyzer::PredictOptions options;
  options.what_if = what_if_from(command, run.run_case, steps, report.assumptions);
  for (std::string& note : analyzer::assumptions_of(steps, options.what_if)) report.assumptions.push_back(std::move(note));
  options.other_network = !command.networks.empty() || !command.link.empty() || command.algorithm != "auto";
  analyzer::CollectiveCosts costs = costs_of_network(store, command);
  const int per_node = command.gpus > 0 ? command.gpus : steps.shape.gpus_per_node;
  const std::vector<int> nodes = command.nodes.empty() ? std::vector<int>{steps.shape.nodes} : command.nodes;
  const int most_nodes = *std::max_element(nodes.begin(), nodes.end());
  refuse_without_effect(command, most_nodes, most_nodes > 1 ? 2 : per_node);
  note_recorded_tier(command, most_nodes, per_node, steps, costs, report.assumptions);
  analyzer::add_costs(steps, costs);
  use_back_test(store, run, options, report.assumptions);
  for (const int count : nodes) {
    const auto found = analyzer::predict_step(steps, costs, {count, per_node}, options);
    if (!found) throw_bad(fmt::format("{} nodes of {}: {}", count, per_node, found.reason()));
    report.predictions.push_back(*found);
    if (found->is_modelled) report.modelled_ratio = found->replay_over_recorded;
  }
  print(command.json ? reports::prediction_json(report) + "\n" : reports::prediction_text(report, stdout_style()));
  return 0;
}

void add_changes(CLI::App& app, PredictCommand& command) {
  app.add_option("--batch-per-gpu", command.batch_per_gpu, "Samples a GPU and step")->check(CLI::PositiveNumber);
  app.add_option("--bucket-mb", command.bucket_mb, "Size of gradient buckets in MiB")->check(CLI::Range(0.01, 1e5));
  app.add_option("-S,--strategy-option", command.strategy_options, "hook=fp16 or hook=bf16: gradients in half the bytes")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--strategy", command.strategy, "ddp, zero1, zero2 or mirrored, of a run of one of the first three; others as recorded");
  app.add_option("--accumulate", command.accumulate, "Micro-batches a step")->check(CLI::Range(1, 10000));
  app.add_option("--compute-scale", command.compute_scale, "Factor by which compute is faster")->check(CLI::Range(0.01, 1000.0));
  app.add_option("--sku", command.sku, "FROM:TO, GPUs or SKUs of the catalogue: compute is faster as their peaks are");
  add_skus_option(app, command.skus);
  app.add_option("--without", command.without, "stragglers, data-wait or host: as if there were none")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false);
}

}  // namespace

void add_predict_command(CLI::App& app, Action& action) {
  CLI::App* predicted = app.add_subcommand("predict", "Step time and throughput of other sizes, from a replay of a run");
  const auto command = std::make_shared<PredictCommand>();
  predicted->add_option("run", command->run, kReplayedRunHelp);
  add_db_option(*predicted, command->db);
  add_network_option(*predicted, command->networks);
  predicted->add_option("--nodes", command->nodes, "Numbers of nodes to predict, e.g. 8,64,512 (else the run's)")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 24));
  predicted->add_option("--gpus", command->gpus, "GPUs (processes) of a node (else the run's)")->check(CLI::Range(1, 65536));
  predicted->add_option("--link", command->link, "RATE or RATE,LATENCY of links between nodes, e.g. 1gbit,50us");
  predicted->add_option("--algorithm", command->algorithm,
                        "How GPUs of several nodes reduce: one ring, a tree (with a SKU as --network), or hierarchical: inside of "
                        "nodes, then between them; auto: as measured, else a ring, of a SKU the faster of ring and tree")
      ->check(CLI::IsMember(kAlgorithms));
  add_changes(*predicted, *command);
  predicted->add_option("--validate", command->validate,
                        "Instead: each size of this sweep predicted from the smaller ones, by the laws of `ddbench scaling` "
                        "and by replay, beside what was measured");
  add_json_option(*predicted, command->json, "prediction.schema.json, with --validate validation.schema.json");
  add_examples(*predicted, {{"predict last --nodes 2,8 --link 10gbit,20us", "the newest run, on one node, over a network as specified"},
                            {"predict RUN --nodes 64 --network MICRO", "over the network that a run of micro measured"},
                            {"predict RUN --nodes 64 --gpus 8 --network Standard_ND96asr_v4", "over the nominal network of a SKU"},
                            {"predict RUN --bucket-mb 25", "the same size with other buckets"}});
  predicted->callback([&action, command, predicted] {
    if (!command->validate.empty()) refuse_with_validate(*predicted);
    action = [command] { return predict(*command); };
  });
}

}  // namespace ddbench::cli
