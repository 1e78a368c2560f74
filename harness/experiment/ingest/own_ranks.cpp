#include "harness/experiment/ingest/own_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/run_case/program_case.h"
#include "core/world_place.h"
#include "harness/experiment/ingest/program_spools.h"

namespace ddbench::experiment {
namespace {

/// That in the largest world that the process reports.
std::optional<WorldPlace> place_of(const ProcessRecording& process) {
  std::optional<WorldPlace> found;
  for (const std::string& name : process.spans.names) {
    const auto place = parse_world_place(name);
    if (place && (!found || place->ranks >= found->ranks)) found = place;
  }
  return found;
}

using Places = std::vector<std::pair<ProcessRecording*, WorldPlace>>;

/// Of the processes that made collectives.
Places places_of(std::vector<ProcessRecording>& processes) {
  Places places;
  for (ProcessRecording& process : processes) {
    if (process.collectives() == 0) continue;
    if (const auto place = place_of(process)) places.emplace_back(&process, *place);
  }
  return places;
}

/// Whether processes of one rank that ddbench started are different ranks of the program's.
bool share_a_rank(const Places& places, int ranks) {
  std::map<int, int> rank_of_started;
  for (const auto& [process, place] : places) {
    if (place.ranks != ranks) continue;
    const auto [known, is_new] = rank_of_started.try_emplace(process->rank, place.rank);
    if (!is_new && known->second != place.rank) return true;
  }
  return false;
}

std::string not_all_recorded(const RunCase& run_case, int ranks, std::size_t recorded) {
  const int started = run_case.world_size();
  std::string text = fmt::format("the program starts its ranks itself: it communicates among {}, and ddbench started {}", ranks,
                                 started);
  if (recorded < static_cast<std::size_t>(ranks)) text += fmt::format(", of which {} were recorded", recorded);
  const int per_node = std::max(1, ranks / run_case.nodes);
  return text + fmt::format(". Start it once a node: --per-node --gpus {}", per_node);
}

}  // namespace

OwnRanks find_own_ranks(const RunCase& run_case, std::vector<ProcessRecording>& processes) {
  if (is_program_per_node(run_case)) return {};
  const Places places = places_of(processes);
  int ranks = 0;
  for (const auto& [process, place] : places) ranks = std::max(ranks, place.ranks);
  if (ranks <= run_case.world_size() && !share_a_rank(places, ranks)) return {};
  std::set<int> seen;
  std::size_t of_world = 0;
  for (const auto& [process, place] : places) {
    if (place.ranks != ranks) continue;
    seen.insert(place.rank);
    ++of_world;
  }
  const bool is_whole = seen.size() == static_cast<std::size_t>(ranks) && of_world == seen.size();
  if (!is_whole || run_case.gpus_per_node != 1 || ranks % run_case.nodes != 0)
    return {0, not_all_recorded(run_case, ranks, seen.size())};
  for (ProcessRecording& process : processes) process.rank = -1;  // it helps a rank, or starts them
  for (const auto& [process, place] : places) {
    if (place.ranks == ranks) process->rank = place.rank;
  }
  return {ranks / run_case.nodes, {}};
}

void take_own_ranks(int per_node, RunCase& run_case, std::vector<store::RankRecord>& ranks) {
  run_case.gpus_per_node = per_node;
  std::get<UserProgram>(run_case.work).start = ProgramStart::kPerNode;
  std::vector<store::RankRecord> all;
  for (const store::RankRecord& node : ranks) {
    for (int local = 0; local < per_node; ++local) {
      store::RankRecord rank = node;
      rank.rank = node.rank * per_node + local;
      rank.local_rank = local;
      rank.pid = 0;
      rank.cores.clear();
      rank.peak_memory_bytes = local == 0 ? node.peak_memory_bytes : 0;
      all.push_back(std::move(rank));
    }
  }
  ranks = std::move(all);
}

}  // namespace ddbench::experiment
