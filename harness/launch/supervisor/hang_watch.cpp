#include "harness/launch/supervisor/hang_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/clock.h"
#include "core/run_case/program_case.h"
#include "harness/launch/control/rank_wording.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kReportAfter = 5s;
constexpr auto kLookEvery = 1s;
constexpr std::chrono::milliseconds kAskAfter = 2s;  // without progress
constexpr auto kAskEvery = 2s;
constexpr auto kAnswerWithin = 1s;
constexpr std::size_t kMostShown = 64;
constexpr std::size_t kMostKept = 16;

}  // namespace

HangWatch::HangWatch(const RunCase& run_case, const LaunchOptions& options, LaunchObserver& observer, SupervisedRanks& ranks,
                     bool remote)
    : run_case_(run_case), options_(options), observer_(observer), ranks_(ranks), remote_(remote) {}

void HangWatch::take(int rank, const Flight& flight) {
  flight_answers_.take(rank, flight, now_ns());
}

/// Of ranks elsewhere their last answers.
std::vector<RankFlight> HangWatch::flights(bool with_stopped) const {
  const int ranks = run_case_.world_size();
  const bool per_node = is_program(run_case_) && is_program_per_node(run_case_);
  if (remote_) {
    std::vector<RankFlight> answers = flights_of(flight_answers_.all(), ranks, per_node);
    for (RankFlight& flight : answers)
      flight.is_known = per_node || flight.rank >= ranks || flight_answers_.has_any(flight.rank);
    return answers;
  }
  std::vector<ProcessFlight> processes = read_process_flights(options_.run_directory, ranks);
  if (with_stopped) find_stopped_processes(options_.run_directory, ranks, processes);
  return flights_of(processes, ranks, per_node);
}

void HangWatch::ask(SteadyTime now) {
  const FlightRequest question = flight_answers_.ask();
  for (SupervisedRank& rank : ranks_) {
    if (rank.alive && rank.phase >= SupervisedRank::Phase::kJoined) rank.post(question);
  }
  next_question_ = now + kAskEvery;
}

void HangWatch::answer_where(const std::vector<RankView>& views, SteadyTime now) {
  if (observer_.asked_where()) {
    where_due_ = remote_ ? now + kAnswerWithin : now;
    if (remote_) ask(now);
  }
  if (!where_due_) return;
  const bool answered =
      std::all_of(views.begin(), views.end(), [&](const RankView& view) { return flight_answers_.has_answered(view.rank); });
  if (now < *where_due_ && !answered) return;
  where_due_.reset();
  observer_.on_where(where_ranks_are_now(views, now));
}

std::string HangWatch::where_ranks_are_now(const std::vector<RankView>& views, SteadyTime now) const {
  const std::vector<RankFlight> last = flights(true);
  const std::int64_t at_ns = now_ns();
  std::string text = where_ranks_are(views, now);
  if (is_program(run_case_)) {
    const auto awaited = stands_still(last, 2s, at_ns) ? who_is_awaited(last, at_ns) : std::nullopt;
    text = awaited.value_or("no hang that is seen: within the last 2 s a rank entered or left a collective, or none is in one");
  }
  const std::vector<std::string> lines = flights_in_words(last, at_ns);
  if (!is_program(run_case_)) text += "\nlast collectives";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostShown); ++i) text += "\n  " + lines[i];
  return text;
}

/// Of a program elsewhere. Ranks that do not answer are named: they or their machines stand still.
std::optional<std::string> HangWatch::who_hangs_elsewhere(const std::vector<RankView>& views, SteadyTime now) const {
  std::string silent;
  for (const RankView& view : views) {
    if (now - view.last_heard < kReportAfter) continue;
    silent += fmt::format("{}{} has not answered for {}", silent.empty() ? "" : "; ",
                          describe_rank(view.rank, view.node, view.pid), describe_time(now - view.last_heard));
  }
  if (!silent.empty()) return silent;
  if (views.empty() || now - last_progress(views) < kReportAfter) return std::nullopt;
  const std::vector<RankFlight> last = flights(true);
  return stands_still(last, kAskAfter, now_ns()) ? who_is_awaited(last, now_ns()) : std::nullopt;
}

/// Of a program's processes only their recorders are known.
std::optional<std::string> HangWatch::who_hangs(const std::vector<RankView>& views, SteadyTime now) const {
  if (!is_program(run_case_)) return who_is_awaited(views, std::min(kReportAfter, options_.watchdog), now);
  if (remote_) return who_hangs_elsewhere(views, now);
  if (!stands_still(flights(false), kReportAfter, now_ns())) return std::nullopt;
  return who_is_awaited(flights(true), now_ns());
}

/// The heartbeats of its ranks show their steps nowhere and their collectives only where they are elsewhere.
std::optional<std::string> HangWatch::why_program_ends(const std::vector<RankView>& views, SteadyTime now) const {
  const auto limit = options_.watchdog;
  if (now < not_before_) return std::nullopt;
  for (const RankView& view : views) {
    if (now - view.last_heard >= limit)
      return fmt::format("{} has not answered for {}", describe_rank(view.rank, view.node, view.pid), describe_time(now - view.last_heard));
  }
  if (remote_ && (views.empty() || now - last_progress(views) < limit)) return std::nullopt;
  if (!stands_still_for_certain(flights(false), limit, now_ns())) return std::nullopt;
  return why_they_stand(flights(true), now_ns());
}

std::optional<std::string> HangWatch::look(const std::vector<RankView>& views, SteadyTime now) {
  if (now < next_look_) return std::nullopt;
  next_look_ = now + kLookEvery;
  // Asked before a hang is reported, so that the answers are there by then. While ranks make progress, nobody is asked.
  const auto patience = std::min<std::chrono::nanoseconds>(kAskAfter, options_.watchdog / 2);
  if (remote_ && !views.empty() && now >= next_question_ && now - last_progress(views) >= patience) ask(now);
  const std::optional<std::string> who = who_hangs(views, now);
  if (who && !reported_) observer_.on_hang(*who);
  reported_ = who.has_value();
  return is_program(run_case_) ? why_program_ends(views, now) : std::nullopt;
}

std::vector<std::string> HangWatch::notes() const {
  if (remote_ && !flight_answers_.asked()) return {};
  std::vector<std::string> notes = flights_in_words(flights(false), now_ns());
  notes.resize(std::min(notes.size(), kMostKept));
  for (std::string& note : notes) note.insert(0, "when it hung, ");
  return notes;
}

}  // namespace ddbench::launch
