// Which rank is missing from which collective: printed on request, printed once when ranks wait for some seconds, and kept with
// a run that hung.
#include <fmt/format.h>

#include <algorithm>

#include "core/clock.h"
#include "core/run_case/program_case.h"
#include "harness/launch/control/rank_wording.h"
#include "harness/launch/supervisor/flights.h"
#include "harness/launch/supervisor/supervisor.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTellAfter = 5s;
constexpr auto kLookEvery = 1s;
constexpr std::chrono::milliseconds kAskAfter = 2s;  // without progress
constexpr auto kAskEvery = 2s;
constexpr auto kAnswerWithin = 1s;
constexpr std::size_t kMostTold = 64;

}  // namespace

/// Of ranks here from their files, of ranks elsewhere as they told last.
std::vector<RankFlight> Supervisor::flights(bool with_stopped) const {
  const int ranks = run_case_.world_size();
  const bool per_node = is_program(run_case_) && is_program_per_node(run_case_);
  if (processes_.remote()) {
    std::vector<RankFlight> told = flights_of(asked_flights_.all(), ranks, per_node);
    for (RankFlight& flight : told) flight.is_known = per_node || flight.rank >= ranks || asked_flights_.has_told(flight.rank);
    return told;
  }
  std::vector<ProcessFlight> processes = read_process_flights(options_.run_directory, ranks);
  if (with_stopped) find_stopped_processes(options_.run_directory, ranks, processes);
  return flights_of(processes, ranks, per_node);
}

void Supervisor::ask_for_flights(SteadyTime now) {
  const TellFlights question = asked_flights_.ask();
  for (SupervisedRank& rank : ranks_) {
    if (rank.alive && rank.phase >= SupervisedRank::Phase::kJoined) rank.post(question);
  }
  next_question_ = now + kAskEvery;
}

/// Before a hang is told: then the answers are there. While ranks go on nothing is asked.
void Supervisor::ask_where_nothing_goes_on(const std::vector<RankView>& views, SteadyTime now) {
  if (!processes_.remote() || views.empty() || now < next_question_) return;
  if (now - last_progress(views) >= std::min<std::chrono::nanoseconds>(kAskAfter, options_.watchdog / 2)) ask_for_flights(now);
}

/// Ranks elsewhere have some time to tell of themselves.
void Supervisor::answer_where(const std::vector<RankView>& views, SteadyTime now) {
  if (observer_.asked_where()) {
    where_due_ = processes_.remote() ? now + kAnswerWithin : now;
    if (processes_.remote()) ask_for_flights(now);
  }
  if (!where_due_) return;
  const bool told = std::all_of(views.begin(), views.end(), [&](const RankView& view) { return asked_flights_.has_answered(view.rank); });
  if (now < *where_due_ && !told) return;
  where_due_.reset();
  observer_.on_where(where_ranks_are_now(views, now));
}

std::string Supervisor::where_ranks_are_now(const std::vector<RankView>& views, SteadyTime now) const {
  const std::vector<RankFlight> last = flights(true);
  const std::int64_t at_ns = now_ns();
  std::string text = where_ranks_are(views, now);
  if (is_program(run_case_)) {
    const auto awaited = stands_still(last, 2s, at_ns) ? who_is_awaited(last, at_ns) : std::nullopt;
    text = awaited.value_or("no hang that is seen: within the last 2 s a rank entered or left a collective, or none is in one");
  }
  const std::vector<std::string> lines = flights_in_words(last, at_ns);
  if (!is_program(run_case_)) text += "\nlast collectives";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostTold); ++i) text += "\n  " + lines[i];
  return text;
}

/// Of a program elsewhere, as its ranks told when nothing went on. Who does not tell is named: it or its machine stands still.
std::optional<std::string> Supervisor::who_hangs_elsewhere(const std::vector<RankView>& views, SteadyTime now) const {
  std::string silent;
  for (const RankView& view : views) {
    if (now - view.last_heard < kTellAfter) continue;
    silent += fmt::format("{}{} has not answered for {}", silent.empty() ? "" : "; ", describe_rank(view.rank, view.node, view.pid),
                          describe_time(now - view.last_heard));
  }
  if (!silent.empty()) return silent;
  if (views.empty() || now - last_progress(views) < kTellAfter) return std::nullopt;
  const std::vector<RankFlight> last = flights(true);
  return stands_still(last, kAskAfter, now_ns()) ? who_is_awaited(last, now_ns()) : std::nullopt;
}

/// Of a program's processes only their recorders are known.
std::optional<std::string> Supervisor::who_hangs(const std::vector<RankView>& views, SteadyTime now) const {
  if (!is_program(run_case_)) return who_is_awaited(views, std::min(kTellAfter, options_.watchdog), now);
  if (processes_.remote()) return who_hangs_elsewhere(views, now);
  if (!stands_still(flights(false), kTellAfter, now_ns())) return std::nullopt;
  return who_is_awaited(flights(true), now_ns());
}

void Supervisor::tell_of_hang(const std::vector<RankView>& views, SteadyTime now) {
  if (phase_ != Phase::kTraining || now < next_hang_look_) return;
  next_hang_look_ = now + kLookEvery;
  ask_where_nothing_goes_on(views, now);
  const std::optional<std::string> who = who_hangs(views, now);
  if (who && !told_of_hang_) observer_.on_hang(*who);
  told_of_hang_ = who.has_value();
}

void Supervisor::keep_flights() {
  if (processes_.remote() && !asked_flights_.asked()) return;
  const std::vector<std::string> lines = flights_in_words(flights(false), now_ns());
  constexpr std::size_t kMostKept = 16;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostKept); ++i)
    outcome_.notes.push_back("when it hung, " + lines[i]);
}

}  // namespace ddbench::launch
