#include "analyzer/import/nccl_ras/nccl_ras.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/attribution/communicators.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"

namespace ddbench::imports {
namespace {

constexpr int kInProgress = 7;
constexpr std::size_t kMostNotes = 16;  // of each kind

std::string nccl_result(int result) {
  constexpr std::array<std::string_view, 8> kResults = {"success",          "an unhandled CUDA error", "a system error",
                                                        "an internal error", "an invalid argument",     "an invalid usage",
                                                        "an error of a remote process", "in progress"};
  return result < static_cast<int>(kResults.size()) ? std::string(kResults[static_cast<std::size_t>(result)])
                                                    : fmt::format("the result {}", result);
}

std::string who(const RasRank& rank, const RasCommunicator& communicator) {
  std::string text = fmt::format("rank {} of the {} of communicator {}", rank.rank, communicator.size, communicator.hash);
  std::string where;
  if (rank.gpu >= 0) where = fmt::format("GPU {}", rank.gpu);
  if (rank.pid > 0) where += fmt::format("{}process {}", where.empty() ? "" : ", ", rank.pid);
  if (!rank.host.empty()) where += fmt::format("{}on {}", where.empty() ? "" : " ", rank.host);
  return where.empty() ? text : fmt::format("{} ({})", text, where);
}

/// Empty: the rank has no problem.
std::string wrong_with(const RasRank& rank) {
  const auto is_wrong = [](int result) { return result != 0 && result != kInProgress; };
  if (is_wrong(rank.async_error)) return "reports " + nccl_result(rank.async_error);
  if (is_wrong(rank.init_state)) return "failed to initialize: " + nccl_result(rank.init_state);
  return rank.is_aborted ? "was aborted" : "";
}

std::vector<std::string> findings_of(const RasStatus& status) {
  std::vector<std::string> dead, silent, wrong;
  for (const RasCommunicator& communicator : status.communicators) {
    for (const RasRank& rank : communicator.missing) {
      if (rank.is_dead) dead.push_back(who(rank, communicator) + " is considered dead: nothing reaches its process");
      else if (rank.is_unresponsive) silent.push_back(who(rank, communicator) + " does not answer");
    }
    for (const RasRank& rank : communicator.ranks) {
      if (const std::string what = wrong_with(rank); !what.empty()) wrong.push_back(fmt::format("{} {}", who(rank, communicator), what));
    }
  }
  for (std::vector<std::string>* const more : {&silent, &wrong}) dead.insert(dead.end(), more->begin(), more->end());
  return dead;
}

std::string launched_in_words(const std::map<std::string, std::uint64_t>& launched) {
  std::string text;
  for (const auto& [function, count] : launched) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, function);
  }
  return text.empty() ? "no collective" : text;
}

/// If ranks of a communicator launched different numbers of one collective: the ranks that are behind the
/// furthest.
std::vector<std::string> unequal_counts(const RasStatus& status) {
  std::vector<std::string> unequal;
  for (const RasCommunicator& communicator : status.communicators) {
    std::map<std::string, std::map<std::uint64_t, std::vector<int>>> by_count;
    for (const RasRank& rank : communicator.ranks) {
      for (const auto& [function, count] : rank.launched) by_count[function][count].push_back(rank.rank);
    }
    for (auto& [function, counts] : by_count) {
      if (counts.size() < 2) continue;
      std::string behind;
      for (auto at = counts.begin(); std::next(at) != counts.end(); ++at) {
        std::sort(at->second.begin(), at->second.end());
        behind += fmt::format("{}ranks {} have launched {}", behind.empty() ? "" : ", ", analyzer::ranks_in_words(at->second), at->first);
      }
      unequal.push_back(fmt::format("of {} in communicator {} of {} ranks, {} and the others {}", function, communicator.hash,
                                    communicator.size, behind, counts.rbegin()->first));
    }
  }
  return unequal;
}

/// Communicators of one size that launched the same are one line.
std::vector<std::string> launched(const RasStatus& status) {
  std::map<std::tuple<int, std::string>, int> groups;
  for (const RasCommunicator& communicator : status.communicators) {
    std::map<std::string, std::uint64_t> most;
    for (const RasRank& rank : communicator.ranks) {
      for (const auto& [function, count] : rank.launched) most[function] = std::max(most[function], count);
    }
    ++groups[{-communicator.size, launched_in_words(most)}];
  }
  std::vector<std::string> lines;
  for (const auto& [what, count] : groups) {
    const int ranks = -std::get<0>(what);
    lines.push_back(fmt::format("{} communicator{} of {} rank{}: {} launched", count, count == 1 ? "" : "s", ranks,
                                ranks == 1 ? "" : "s", std::get<1>(what)));
  }
  return lines;
}

/// Nodes by the addresses of the largest communicator's ranks, where all are known and each has equally many.
int nodes_of(const RasCommunicator& communicator) {
  std::map<std::string, int> hosts;
  for (const auto* const ranks : {&communicator.ranks, &communicator.missing}) {
    for (const RasRank& rank : *ranks) ++hosts[rank.host];
  }
  const bool all_known = communicator.ranks.size() + communicator.missing.size() == static_cast<std::size_t>(communicator.size) &&
                         !hosts.contains("");
  const auto nodes = static_cast<int>(hosts.size());
  const bool are_equal = std::all_of(hosts.begin(), hosts.end(),
                                     [&](const auto& host) { return std::int64_t{host.second} * nodes == communicator.size; });
  return all_known && are_equal ? nodes : 0;
}

void set_machines(const RasStatus& status, store::RunRecord& run) {
  const RasCommunicator& largest = *std::max_element(status.communicators.begin(), status.communicators.end(),
                                                     [](const auto& a, const auto& b) { return a.size < b.size; });
  const int nodes = nodes_of(largest);
  run.run_case.nodes = std::max(nodes, 1);
  run.run_case.gpus_per_node = largest.size / run.run_case.nodes;
  if (nodes == 0) set_unplaced(run.run_case, largest.size);
}

std::vector<std::string> notes_of(const RasStatus& status, const RasSnapshot& snapshot) {
  std::vector<std::string> notes = {fmt::format("a snapshot: what NCCL{}'s RAS reported{}; it knows what was launched, and no times or steps",
                                                status.nccl_version.empty() ? "" : " " + status.nccl_version,
                                                status.timestamp.empty() ? "" : " at " + status.timestamp)};
  const auto add = [&](const std::vector<std::string>& lines) {
    notes.insert(notes.end(), lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), kMostNotes)));
    if (lines.size() > kMostNotes) notes.push_back(fmt::format("and {} more like these", lines.size() - kMostNotes));
  };
  add(snapshot.findings);
  add(snapshot.unequal);
  if (!snapshot.unequal.empty())
    notes.emplace_back("unequal numbers are usual while a job works; if they stay as they are in the next snapshot, it hangs there");
  add(launched(status));
  std::size_t leaving = 0;
  for (const RasCommunicator& communicator : status.communicators) {
    for (const RasRank& rank : communicator.missing) leaving += !rank.is_dead && !rank.is_unresponsive;
  }
  if (leaving > 0)
    notes.push_back(fmt::format("{} ranks answer and are no members of their communicator, as where it begins or ends", leaving));
  if (status.timeouts > 0)
    notes.push_back(fmt::format("{} processes or links did not answer RAS in time: more may be wrong than what is listed", status.timeouts));
  return notes;
}

}  // namespace

RasSnapshot read_nccl_ras(std::string_view text, const std::string& origin, const std::string& name) {
  const RasStatus status = read_ras_status(text, origin);
  RasSnapshot snapshot;
  snapshot.findings = findings_of(status);
  snapshot.unequal = unequal_counts(status);
  store::RunRecord& run = snapshot.run.run;
  set_program(run.run_case, {name.empty() ? "nccl-ras" : name});
  set_machines(status, run);
  run.run_case.steps = 1;
  run.run_case.warmup = 0;
  validate(run.run_case);
  run.state = snapshot.findings.empty() ? store::RunState::kDone : store::RunState::kFailed;
  if (!snapshot.findings.empty()) {
    run.reason = snapshot.findings.front();
    if (snapshot.findings.size() > 1) run.reason += fmt::format(", and {} more", snapshot.findings.size() - 1);
  }
  run.provenance = {Provenance::kImported};
  const std::vector<std::string> notes = notes_of(status, snapshot);
  for (std::size_t i = 0; i < notes.size(); ++i)
    set_fact(run.environment.facts, fact_key_of<"note.*">(static_cast<int>(i) + 1), notes[i]);
  return snapshot;
}

}  // namespace ddbench::imports
