#include "analyzer/import/nccl_inspector/nccl_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/import/nccl_inspector/inspector_lines.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"

namespace ddbench::imports {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", file.string(), why), 0, file.string());
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Calls of one function and size in one communicator.
struct CallGroup {
  std::map<std::uint64_t, std::map<int, std::int64_t>> calls;  ///< by sequence: each rank's time
  std::set<std::string> algorithms;
  bool is_p2p = false;  ///< sends or receives: the calls of one number on several ranks have nothing in common
};

struct Communicator {
  int ranks = 0;
  int nodes = 0;
  int place = 0;  ///< among those of as many ranks
};

class Calls {
 public:
  void add(const std::filesystem::path& file, InspectorCall&& call) {
    const auto [place, is_new] = communicators_.try_emplace(call.communicator);
    Communicator& communicator = place->second;
    if (is_new) communicator = {call.ranks, call.nodes, of_size_[call.ranks]++};
    if (communicator.ranks != call.ranks)
      refuse(file, fmt::format("communicator {} has {} ranks here and {} before: import each job by itself", call.communicator,
                               call.ranks, communicator.ranks));
    if (!call.host.empty()) hosts_.insert(call.host);
    CallGroup& group = groups_[{call.communicator, call.function, call.bytes}];
    // The same call twice: of two dumps of the ring the later one counts.
    group.calls[call.sequence][call.rank] = call.duration_ns;
    group.is_p2p = call.is_p2p;
    if (!call.nccl_algorithm.empty()) group.algorithms.insert(std::move(call.nccl_algorithm));
    ++lines_;
    const std::string& source = call.timing_source;
    if (source.empty() || source == "kernel_gpu") return;
    ++timed_elsewhere_[source == "kernel_cpu" || source == "collective_cpu" ? source : "another clock"];
  }

  bool empty() const { return groups_.empty(); }

  bool has_p2p() const {
    return std::any_of(groups_.begin(), groups_.end(), [](const auto& group) { return group.second.is_p2p; });
  }

  /// "3 of 40 lines are timed by kernel_cpu"; empty where the GPU timed all kernels.
  std::string describe_timing() const {
    std::vector<std::string> sources;
    for (const auto& [source, lines] : timed_elsewhere_) sources.push_back(fmt::format("{} of {} lines are timed by {}", lines, lines_, source));
    return fmt::format("{}", fmt::join(sources, ", "));
  }

  bool all_ranks_complete() const {
    return std::all_of(groups_.begin(), groups_.end(), [&](const auto& group) {
      if (group.second.is_p2p) return true;
      const auto ranks = static_cast<std::size_t>(communicators_.at(std::get<0>(group.first)).ranks);
      return std::all_of(group.second.calls.begin(), group.second.calls.end(),
                         [&](const auto& call) { return call.second.size() == ranks; });
    });
  }

  ImportedRun run(const std::string& name) const {
    ImportedRun imported;
    store::RunRecord& run = imported.run;
    set_program(run.run_case, {name});
    set_machines(run);
    run.run_case.steps = 1;
    run.run_case.warmup = 0;
    validate(run.run_case);
    run.state = store::RunState::kDone;
    run.provenance = {Provenance::kImported};
    for (const auto& [key, group] : groups_) imported.collectives.push_back(record(key, group));
    return imported;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::uint64_t>;

  void set_machines(store::RunRecord& run) const {
    const Communicator* largest = &communicators_.begin()->second;
    for (const auto& [id, communicator] : communicators_) {
      if (communicator.ranks > largest->ranks) largest = &communicator;
    }
    const bool is_known = largest->nodes > 0 && largest->ranks % largest->nodes == 0;
    run.run_case.nodes = is_known ? largest->nodes : 1;
    run.run_case.gpus_per_node = largest->ranks / run.run_case.nodes;
    if (!is_known) set_unplaced(run.run_case, largest->ranks);
  }

  store::CollectiveRecord record(const Key& key, const CallGroup& group) const {
    const Communicator& communicator = communicators_.at(std::get<0>(key));
    std::vector<std::int64_t> durations, transfers, waits;
    for (const auto& [sequence, ranks] : group.calls) {
      if (group.is_p2p) {
        for (const auto& [rank, ns] : ranks) transfers.push_back(ns);
        continue;
      }
      std::int64_t shortest_ns = ranks.begin()->second;
      for (const auto& [rank, ns] : ranks) shortest_ns = std::min(shortest_ns, ns);
      for (const auto& [rank, ns] : ranks) durations.push_back(ns);
      transfers.push_back(shortest_ns);
      if (static_cast<int>(ranks.size()) != communicator.ranks) continue;
      for (const auto& [rank, ns] : ranks) waits.push_back(ns - shortest_ns);
    }
    if (group.is_p2p) durations = transfers;
    store::CollectiveRecord record;
    record.function = std::get<1>(key);
    record.bytes = std::get<2>(key);
    record.count = transfers.size();
    record.duration_ns = median_of(std::move(durations));
    record.transfer_ns = median_of(std::move(transfers));
    if (!waits.empty()) record.peer_wait_ns = median_of(waits);
    record.peer_wait_resolved = !waits.empty();
    record.nccl_algorithm = fmt::format("{}", fmt::join(group.algorithms, "; "));
    record.communicator.ranks = communicator.ranks;
    record.communicator.place = communicator.place;
    return record;
  }

  std::map<std::string, Communicator> communicators_;
  std::map<int, int> of_size_;
  std::set<std::string> hosts_;
  std::size_t lines_ = 0;
  std::map<std::string, std::size_t> timed_elsewhere_;  ///< lines by what timed them
  std::map<Key, CallGroup> groups_;
};

}  // namespace

InspectorContent read_nccl_inspector(const std::vector<std::filesystem::path>& files, const std::string& name) {
  Calls calls;
  InspectorContent content;
  int cut_off = 0;
  for (const std::filesystem::path& file : files) {
    const InspectorFile read = read_inspector_lines(file, [&](InspectorCall&& call) { calls.add(file, std::move(call)); });
    content.hash = content.hash * 0x100'0000'01b3ULL + read.hash;
    cut_off += read.is_cut_off;
  }
  if (calls.empty()) refuse(files.front(), "it has no call of NCCL Inspector");
  content.run = calls.run(name.empty() ? "nccl-inspector" : name);
  Facts& facts = content.run.run.environment.facts;
  set_fact(facts, fact_key_of<"note.*">(1),
           "a snapshot: NCCL Inspector keeps the last calls of each communicator, so these are not all, and it knows no steps");
  int notes = 1;
  if (!calls.all_ranks_complete())
    set_fact(facts, fact_key_of<"note.*">(++notes),
             "for calls that only some ranks reported, the shortest reported time counts as transfer; it may include a wait");
  if (calls.has_p2p())
    set_fact(facts, fact_key_of<"note.*">(++notes), "the time of a send or a receive contains the wait for its peer");
  if (const std::string timing = calls.describe_timing(); !timing.empty())
    set_fact(facts, fact_key_of<"note.*">(++notes),
             fmt::format("{} and not by the GPU (kernel_gpu): such times contain some of the host's", timing));
  if (cut_off > 0)
    set_fact(facts, fact_key_of<"note.*">(++notes), fmt::format("the last line of {} files is cut off and was left out", cut_off));
  return content;
}

}  // namespace ddbench::imports
