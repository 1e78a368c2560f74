#include "analyzer/gate/run_sessions.h"

#include <algorithm>
#include <random>
#include <string_view>

namespace ddbench::analyzer {
namespace {

/// Of either side, in order of time.
struct TimedRun {
  const store::RunRecord* run = nullptr;
  bool candidate = false;
  std::size_t index = 0;
};

bool same_machine(const store::RunRecord& a, const store::RunRecord& b) {
  return a.owner_host == b.owner_host && a.owner_boot_id == b.owner_boot_id;
}

std::int64_t end_of(const store::RunRecord& run) {
  return std::max(run.started_wall_ns, run.finished_wall_ns);
}

std::vector<TimedRun> by_time(std::span<const store::RunRecord> baseline,
                              std::span<const store::RunRecord> candidate) {
  std::vector<TimedRun> all;
  for (std::size_t i = 0; i < baseline.size(); ++i) all.push_back({&baseline[i], false, i});
  for (std::size_t i = 0; i < candidate.size(); ++i) all.push_back({&candidate[i], true, i});
  std::stable_sort(all.begin(), all.end(), [](const TimedRun& a, const TimedRun& b) {
    return a.run->started_wall_ns < b.run->started_wall_ns;
  });
  return all;
}

bool one_session(const store::RunRecord& earlier, const store::RunRecord& later,
                 std::chrono::nanoseconds pause) {
  return same_machine(earlier, later) && later.started_wall_ns - end_of(earlier) < pause.count();
}

}  // namespace

std::vector<std::vector<std::size_t>> sessions_of(std::span<const store::RunRecord> runs,
                                                  std::chrono::nanoseconds pause) {
  std::vector<std::vector<std::size_t>> sessions;
  for (const TimedRun& timed : by_time(runs, {})) {
    // Machines of a cluster work at the same time: a run continues the session of its own machine.
    const auto own = std::find_if(sessions.rbegin(), sessions.rend(), [&](const auto& session) {
      return one_session(runs[session.back()], *timed.run, pause);
    });
    if (own == sessions.rend()) {
      sessions.push_back({timed.index});
    } else {
      own->push_back(timed.index);
    }
  }
  return sessions;
}

std::optional<std::vector<RunPair>> interleaved_pairs(std::span<const store::RunRecord> baseline,
                                                      std::span<const store::RunRecord> candidate,
                                                      std::chrono::nanoseconds pause) {
  if (baseline.size() != candidate.size() || baseline.size() < 2) return std::nullopt;
  const std::vector<TimedRun> all = by_time(baseline, candidate);
  std::vector<RunPair> pairs;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    const TimedRun& first = all[i];
    const TimedRun& second = all[i + 1];
    if (first.candidate == second.candidate || !one_session(*first.run, *second.run, pause))
      return std::nullopt;
    pairs.push_back(first.candidate ? RunPair{second.index, first.index, true}
                                    : RunPair{first.index, second.index, false});
  }
  return pairs;
}

double order_imbalance(std::span<const RunPair> pairs) {
  double sum = 0;
  for (const RunPair& pair : pairs) sum += pair.candidate_first ? -1 : 1;
  return sum / static_cast<double>(pairs.size());
}

std::vector<bool> interleaved_order(int pairs, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const bool odd_one = (generator() & 1) != 0;
  std::vector<bool> candidate_first;
  for (int pair = 0; pair < pairs; ++pair) candidate_first.push_back((pair % 2 == 0) == odd_one);
  for (std::size_t left = candidate_first.size(); left > 1; --left) {
    const auto pick = static_cast<std::size_t>((generator() >> 32) * left >> 32);
    std::vector<bool>::swap(candidate_first[pick], candidate_first[left - 1]);
  }
  return candidate_first;
}

SidesInTime sides_in_time(std::span<const store::RunRecord> baseline,
                          std::span<const store::RunRecord> candidate, std::chrono::nanoseconds pause) {
  if (interleaved_pairs(baseline, candidate, pause)) return SidesInTime::kInterleaved;
  std::vector<store::RunRecord> both(baseline.begin(), baseline.end());
  both.insert(both.end(), candidate.begin(), candidate.end());
  return sessions_of(both, pause).size() == 1 ? SidesInTime::kBlocks : SidesInTime::kSessions;
}

}  // namespace ddbench::analyzer
