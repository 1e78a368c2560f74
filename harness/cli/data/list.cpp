#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/run/run_summary.h"
#include "core/error.h"
#include "harness/cli/data/list_skus.h"
#include "harness/cli/data/listed_runs.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/strategy/strategy_traffic.h"
#include "reports/formats/json/json.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::cli {
namespace {

struct ListOptions {
  std::string what = "runs";
  std::string db;
  RunFilter filter;
  std::string skus;
  std::vector<std::string> prices;
  bool json = false;
};

int list_runs(const ListOptions& options) {
  const auto store = open_store(options.db);
  const ListedRecords records = listed_records(store, options.filter);
  std::vector<analyzer::RunSummary> runs;
  for (const store::RunRecord& run : records.newest) runs.push_back(analyzer::summarize_for_list(store, run));
  print(options.json ? reports::run_list_json(runs) + "\n" : reports::run_list_text(runs, stdout_style(), records.all));
  return 0;
}

std::string options_text(const std::vector<workload::OptionInfo>& options) {
  std::string text;
  for (const workload::OptionInfo& option : options) {
    text += fmt::format("    -O {:<20} {}\n", option.name + "=" + option.default_value, option.meaning);
  }
  return text;
}

std::string workloads_text() {
  std::string text = fmt::format("{:<12} {:>14} {:>18} {:>16}\n", "workload", "parameters",
                                 "FLOPs per sample", "gradient bytes");
  for (const workload::WorkloadInfo& info : workload::workloads()) {
    const auto made = info.make({});
    text += fmt::format("{:<12} {:>14} {:>18.0f} {:>16}   {}\n{}", info.name,
                        workload::parameter_count(*made), made->flops_per_sample(),
                        workload::gradient_bytes(*made), info.description, options_text(info.options));
  }
  return text;
}

nlohmann::ordered_json layers_json(const workload::Workload& workload) {
  auto layers = nlohmann::ordered_json::array();
  for (const workload::LayerFlops& layer : workload.layer_flops()) {
    layers.push_back({{"name", layer.name},
                      {"forward_flops", layer.forward},
                      {"backward_flops", layer.backward},
                      {"recomputed_flops", layer.recomputed}});
  }
  return layers;
}

std::string workloads_json() {
  auto list = nlohmann::ordered_json::array();
  for (const workload::WorkloadInfo& info : workload::workloads()) {
    const auto made = info.make({});
    auto options = nlohmann::ordered_json::array();
    for (const workload::OptionInfo& option : info.options) {
      options.push_back(
          {{"name", option.name}, {"default", option.default_value}, {"meaning", option.meaning}});
    }
    list.push_back({{"name", info.name},
                    {"description", info.description},
                    {"parameters", workload::parameter_count(*made)},
                    {"flops_per_sample", made->flops_per_sample()},
                    {"hardware_flops_per_sample", made->hardware_flops_per_sample()},
                    {"gradient_bytes", workload::gradient_bytes(*made)},
                    {"layers", layers_json(*made)},
                    {"options", std::move(options)}});
  }
  return list.dump(2) + "\n";
}

std::string strategies_text() {
  std::string text = fmt::format("{:<12} {}\n", "strategy", "what it does");
  for (const ddp::StrategyDescription& strategy : ddp::strategies()) {
    text += fmt::format("{:<12} {}\n", strategy.name, strategy.description);
    for (const ddp::StrategyOption& option : strategy.options) {
      text += fmt::format("    -S {:<20} {}\n", option.name + "=" + option.default_value, option.meaning);
    }
  }
  return text;
}

std::string strategies_json() {
  auto list = nlohmann::ordered_json::array();
  for (const ddp::StrategyDescription& strategy : ddp::strategies()) {
    auto options = nlohmann::ordered_json::array();
    for (const ddp::StrategyOption& option : strategy.options) {
      options.push_back(
          {{"name", option.name}, {"default", option.default_value}, {"meaning", option.meaning}});
    }
    list.push_back(
        {{"name", strategy.name}, {"description", strategy.description}, {"options", std::move(options)}});
  }
  return list.dump(2) + "\n";
}

/// Each list has options of its own.
void refuse_options_of_other_lists(const CLI::App& command, const std::string& what) {
  static const std::map<std::string, std::string> kListOf{
      {"--db", "runs"},  {"--name", "runs"}, {"--sweep", "runs"}, {"--user", "runs"}, {"--job", "runs"},
      {"--host", "runs"}, {"--limit", "runs"}, {"--price", "skus"}, {"--skus", "skus"}};
  for (const CLI::Option* option : command.get_options()) {
    const auto found = kListOf.find(option->get_name());
    if (option->count() == 0 || found == kListOf.end() || found->second == what) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("{} is of `list {}`; `list {}` takes no such option: leave it out", option->get_name(),
                                                  found->second, what));
  }
}

int list(const ListOptions& options) {
  if (options.what == "runs") return list_runs(options);
  if (options.what == "skus") return list_skus({.catalogue = options.skus, .prices = options.prices, .json = options.json});
  if (options.what == "strategies") {
    print(options.json ? strategies_json() : strategies_text());
    return 0;
  }
  print(options.json ? workloads_json() : workloads_text());
  return 0;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("list", "List stored runs, the workloads and strategies that can be run, or the SKUs of the catalogue");
  const auto options = std::make_shared<ListOptions>();
  command->add_option("what", options->what, "runs, workloads, strategies or skus")
      ->check(CLI::IsMember({"runs", "workloads", "strategies", "skus"}))
      ->capture_default_str();
  add_db_option(*command, options->db);
  command->add_option("--name", options->filter.name, "Only runs of this name");
  command->add_option("--sweep", options->filter.sweep, "Only runs of this sweep (an id or a part of one)");
  command->add_option("--user", options->filter.user, "Only runs that this user made");
  command->add_option("--job", options->filter.job, "Only runs of this job of a scheduler: 1234 or \"slurm 1234\"");
  command->add_option("--host", options->filter.host, "Only runs of this host: where ddbench was, or a rank");
  command->add_option("--limit", options->filter.limit, "Show at most N runs, newest first (0: all)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_skus_option(*command, options->skus);
  command->add_option("--price", options->prices, "Of skus: NAME=USD_PER_HOUR[,spot=USD][,preemptions=PER_HOUR] of a node")
      ->take_all()
      ->allow_extra_args(false);
  add_json_option(*command, options->json, "run_list.schema.json");
  add_examples(*command, {{"list", "the newest runs"},
                          {"list --name nightly --limit 0", "all runs of this name"},
                          {"list workloads", "what can be trained without a program of your own"},
                          {"list skus", "GPUs, cores, memory, network and prices of node sizes"}});
  command->callback([&action, options, command] {
    refuse_options_of_other_lists(*command, options->what);
    action = [options] { return list(*options); };
  });
}

}  // namespace ddbench::cli
