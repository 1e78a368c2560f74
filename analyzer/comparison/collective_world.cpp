#include "analyzer/comparison/collective_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "analyzer/collectives/communicator_label.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/run/usable_runs.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

using Worlds = std::span<const CollectiveWorld>;
using TextOf = std::function<std::string(const CollectiveWorld&)>;

std::string shape_of(const CollectiveWorld& world) {
  if (world.nodes == 0) return gpus(world.gpus_per_node);
  return fmt::format("{} × {}", world.nodes, world.gpus_per_node);
}

std::string base_label(const CollectiveWorld& world) {
  std::string label = fmt::format("{}, {}", world.function, shape_of(world));
  const std::string& between = world.link.empty() ? world.network : world.link;
  if (world.nodes != 1 && !between.empty()) label += ", " + between;
  if (!world.communicator.empty()) label += ", " + world.communicator;
  return label;
}

/// Appends the result of `text_of` to each text, if it differs among worlds with the same text.
void append_differences(Worlds worlds, const TextOf& text_of, std::vector<std::string>& texts) {
  std::map<std::string, std::set<std::string>> by_text;
  for (std::size_t i = 0; i < worlds.size(); ++i) by_text[texts[i]].insert(text_of(worlds[i]));
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    const std::string text = text_of(worlds[i]);
    if (by_text[texts[i]].size() > 1) texts[i] += ", " + (text.empty() ? "(none)" : text);
  }
}

std::string datatype_of(const RunCase& run_case) {
  const auto* const tests = std::get_if<NcclTests>(&run_case.work);
  return run_case.precision + (tests != nullptr && tests->place == "in_place" ? " in place" : "");
}

const TextOf kDifferences[] = {
    [](const CollectiveWorld& world) { return world.network; },
    [](const CollectiveWorld& world) { return world.backend; },
    [](const CollectiveWorld& world) { return world.device; },
    [](const CollectiveWorld& world) { return world.sku; },
    [](const CollectiveWorld& world) { return world.datatype; },
};

}  // namespace

CollectiveWorld collective_world(const store::RunRecord& run, const std::string& function,
                                 const store::CommunicatorRecord& communicator) {
  const RunCase& run_case = run.run_case;
  CollectiveWorld world;
  world.function = function;
  world.ranks = communicator.ranks;
  world.communicator = communicator_label(communicator, run_case.world_size());
  world.nodes = run_case.nodes_not_stated ? 0 : run_case.nodes;
  world.gpus_per_node = run_case.gpus_per_node;
  if (run_case.nodes > 1 || run_case.nodes_not_stated) world.link = run_case.link;
  world.network = run.environment.network;
  world.backend = run_case.backend;
  world.device = run_case.device;
  world.sku = run_case.sku;
  world.datatype = datatype_of(run_case);
  return world;
}

CollectiveWorld without_field(CollectiveWorld world, const std::string& field) {
  if (field == "link" || field == "network" || field == "requested_network") {
    world.link.clear();
    world.network.clear();
  }
  if (field == "nodes" || field == "gpus_per_node" || field == "world_size") world.nodes = world.gpus_per_node = 1;
  if (field == "backend") world.backend.clear();
  if (field == "device") world.device.clear();
  if (field == "sku") world.sku.clear();
  if (field == "precision" || field.starts_with("workload_options.")) world.datatype.clear();
  return world;
}

std::vector<SizedTransfer> sized_transfers(const RunSummary& summary) {
  struct Buckets {
    std::vector<double> transfer_ns;
    std::vector<double> busbw;
  };
  std::map<std::pair<CollectiveWorld, std::uint64_t>, Buckets> by_size;
  for (const CollectiveSummary& collective : summary.collectives) {
    const store::CollectiveRecord& record = collective.record;
    const Measured<double> transfer_ns = carried_transfer_ns(collective);
    if (!transfer_ns || record.communicator.ranks == 1) continue;
    Buckets& buckets = by_size[{collective_world(summary.run, record.function, record.communicator), record.bytes}];
    buckets.transfer_ns.push_back(*transfer_ns);
    if (collective.busbw_gb_per_s) buckets.busbw.push_back(*collective.busbw_gb_per_s);
  }
  std::vector<SizedTransfer> transfers;
  for (const auto& [key, buckets] : by_size) {
    transfers.push_back({key.first, key.second, *geometric_mean(buckets.transfer_ns, ""),
                         geometric_mean(buckets.busbw, key.first.ranks == 0 ? "the size of the communicator is not known"
                                                                            : "no bus factor")});
  }
  return transfers;
}

std::vector<std::string> labels_of_worlds(Worlds worlds) {
  std::vector<std::string> labels;
  for (const CollectiveWorld& world : worlds) labels.push_back(base_label(world));
  for (const TextOf& difference : kDifferences) append_differences(worlds, difference, labels);
  return labels;
}

std::vector<std::string> variants_of_worlds(Worlds worlds) {
  std::vector<std::string> texts;
  std::vector<std::size_t> prefixes;
  for (const CollectiveWorld& world : worlds) {
    texts.push_back(fmt::format("{} {}", world.function, world.ranks));
    prefixes.push_back(texts.back().size());
  }
  append_differences(worlds, [](const CollectiveWorld& world) {
    return world.communicator.empty() ? "all ranks" : world.communicator;
  }, texts);
  append_differences(worlds, shape_of, texts);
  append_differences(worlds, [](const CollectiveWorld& world) { return world.link; }, texts);
  for (const TextOf& difference : kDifferences) append_differences(worlds, difference, texts);
  for (std::size_t i = 0; i < texts.size(); ++i)
    texts[i] = texts[i].size() > prefixes[i] ? texts[i].substr(prefixes[i] + 2) : std::string();
  return texts;
}

}  // namespace ddbench::analyzer
