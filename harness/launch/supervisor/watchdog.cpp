#include "harness/launch/supervisor/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "analyzer/diagnose/hang/hang.h"
#include "harness/launch/control/rank_wording.h"

namespace ddbench::launch {
namespace {

using Views = std::vector<const RankView*>;

template <typename Condition>
Views select(const std::vector<RankView>& ranks, Condition&& condition) {
  Views selected;
  for (const RankView& rank : ranks) {
    if (condition(rank)) selected.push_back(&rank);
  }
  return selected;
}

std::string name_all(const Views& ranks) {
  constexpr std::size_t kMostNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostNamed); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += describe_rank(ranks[i]->rank, ranks[i]->node, ranks[i]->pid);
  }
  if (ranks.size() > kMostNamed) text += fmt::format(" and {} more", ranks.size() - kMostNamed);
  return text;
}

std::string name_collective(const RankView& rank) {
  const CollectiveState& state = rank.heartbeat.collective;
  return fmt::format("{} #{} of group 0 (all ranks) in step {}", state.function, state.sequence,
                     rank.heartbeat.steps_completed);
}

/// "; it writes a checkpoint"
std::string name_work(const RankView& rank) {
  const ddp::LongWork work = rank.heartbeat.long_work;
  return work == ddp::LongWork::kNone ? std::string() : fmt::format("; it {}", to_string(work));
}

std::uint64_t sequence_of(const RankView& rank) {
  return rank.heartbeat.collective.sequence;
}

/// The furthest rank that is inside a collective; none when nobody is.
const RankView* furthest_waiting(const Views& waiting) {
  const auto furthest = std::max_element(
      waiting.begin(), waiting.end(),
      [](const RankView* a, const RankView* b) { return sequence_of(*a) < sequence_of(*b); });
  return furthest == waiting.end() ? nullptr : *furthest;
}

/// As flight recorders would have it: each rank is in its collective, or has ended it, and in all before.
Views missing_among(const std::vector<RankView>& ranks) {
  const std::string group = "0";
  std::vector<int> all;
  for (const RankView& rank : ranks) all.push_back(rank.rank);
  std::sort(all.begin(), all.end());
  std::vector<analyzer::FlightDump> dumps;
  for (const RankView& rank : ranks) {
    const CollectiveState& state = rank.heartbeat.collective;
    analyzer::FlightDump dump;
    dump.rank = rank.rank;
    dump.groups[group] = {"all ranks", all};
    const auto sequence = static_cast<std::int64_t>(state.sequence);
    dump.numbers[group] = group;
    dump.progress[group] = {sequence, state.inside ? sequence - 1 : sequence};
    if (!state.function.empty()) dump.operations.push_back({0, group, sequence, state.function, false, !state.inside});
    dumps.push_back(std::move(dump));
  }
  const analyzer::Hang hang = analyzer::find_hang(dumps);
  return select(ranks, [&](const RankView& rank) {
    return std::any_of(hang.missing.begin(), hang.missing.end(), [&](const auto& missing) { return missing.rank == rank.rank; });
  });
}

std::string blame_silent(const Views& silent, const Views& waiting, SteadyTime now) {
  SteadyTime heard = SteadyTime::min();
  for (const RankView* rank : silent) heard = std::max(heard, rank->last_heard);
  const bool one = silent.size() == 1;
  std::string text = fmt::format("{} {} not answered for {}", name_all(silent), one ? "has" : "have",
                                 describe_time(now - heard));
  if (const RankView* furthest = furthest_waiting(waiting)) {
    text += fmt::format("; the others wait for {} in {}", one ? "it" : "them", name_collective(*furthest));
  }
  return text;
}

std::string blame_late(const Views& late, const RankView& furthest) {
  const CollectiveState& state = late.front()->heartbeat.collective;
  const auto since = describe_time(std::chrono::nanoseconds(state.for_ns));
  std::string text = fmt::format("{} {} not entered {}, in which the others wait", name_all(late),
                                 late.size() == 1 ? "has" : "have", name_collective(furthest));
  if (!state.function.empty()) {
    text += state.inside ? fmt::format("; still in {} for {}", name_collective(*late.front()), since)
                         : fmt::format("; in no collective for {}", since);
  }
  return text + name_work(*late.front());
}

/// "rank 3 (node 1, pid 123): in all_reduce #41 of group 0 (all ranks) in step 7 for 5.0 s".
std::string where_it_is(const RankView& rank, SteadyTime now) {
  const CollectiveState& state = rank.heartbeat.collective;
  const std::string since = describe_time(std::chrono::nanoseconds(state.for_ns) + (now - rank.last_heard));
  std::string text = describe_rank(rank.rank, rank.node, rank.pid) + ": ";
  if (state.function.empty()) {
    text += fmt::format("in no collective yet, in step {}", rank.heartbeat.steps_completed);
  } else if (state.inside) {
    text += fmt::format("in {} for {}", name_collective(rank), since);
  } else {
    text += fmt::format("in no collective for {}, in step {}; the last was {} #{}", since, rank.heartbeat.steps_completed,
                        state.function, state.sequence);
  }
  text += name_work(rank);
  constexpr std::chrono::seconds kSoon{1};
  if (now - rank.last_heard > kSoon) text += fmt::format("; has not answered for {}", describe_time(now - rank.last_heard));
  return text;
}

}  // namespace

SteadyTime last_progress(const std::vector<RankView>& ranks) {
  SteadyTime progress = SteadyTime::min();
  for (const RankView& rank : ranks) progress = std::max(progress, rank.last_progress);
  return progress;
}

std::string where_ranks_are(const std::vector<RankView>& ranks, SteadyTime now) {
  constexpr std::chrono::milliseconds kHangsFor{2000};
  constexpr std::size_t kMostRanks = 64;
  std::string text = why_stalled(ranks, kHangsFor, now).value_or("no hang: within the last 2 s a rank went on");
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostRanks); ++i) text += "\n  " + where_it_is(ranks[i], now);
  if (ranks.size() > kMostRanks) text += fmt::format("\n  and {} more ranks", ranks.size() - kMostRanks);
  return text;
}

std::chrono::milliseconds silence(std::chrono::milliseconds limit) {
  return std::min(std::chrono::milliseconds(2000), limit / 2);
}

std::optional<std::string> who_is_awaited(const std::vector<RankView>& ranks, std::chrono::milliseconds limit,
                                          SteadyTime now) {
  if (ranks.empty()) return std::nullopt;
  const bool stalled = now - last_progress(ranks) >= limit;
  const auto patience = stalled ? silence(limit) : limit;
  const auto is_silent = [&](const RankView& rank) { return now - rank.last_heard >= patience; };
  const Views silent = select(ranks, is_silent);
  const Views waiting = select(
      ranks, [&](const RankView& rank) { return !is_silent(rank) && rank.heartbeat.collective.inside; });
  if (!silent.empty()) return blame_silent(silent, waiting, now);
  const RankView* const furthest = stalled ? furthest_waiting(waiting) : nullptr;
  if (furthest == nullptr) return std::nullopt;
  const Views late = missing_among(ranks);
  if (late.empty()) return std::nullopt;
  return blame_late(late, *furthest);
}

std::optional<std::string> why_stalled(const std::vector<RankView>& ranks, std::chrono::milliseconds limit,
                                       SteadyTime now) {
  if (auto awaited = who_is_awaited(ranks, limit, now)) return awaited;
  if (ranks.empty() || now - last_progress(ranks) < limit) return std::nullopt;
  const std::string time = describe_time(now - last_progress(ranks));
  const RankView* const furthest =
      furthest_waiting(select(ranks, [](const RankView& rank) { return rank.heartbeat.collective.inside; }));
  if (furthest == nullptr) {
    return fmt::format("no rank has finished a step or entered a collective for {}; {} is in step {}{}", time,
                       describe_rank(ranks.front().rank, ranks.front().node, ranks.front().pid),
                       ranks.front().heartbeat.steps_completed, name_work(ranks.front()));
  }
  return fmt::format(
      "every rank has entered {}, but it has not ended for {}: the network between the ranks does not "
      "deliver",
      name_collective(*furthest), time);
}

}  // namespace ddbench::launch
