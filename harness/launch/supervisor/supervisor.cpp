#include "harness/launch/supervisor/supervisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/clock.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/supervisor/job_end.h"
#include "harness/launch/supervisor/rank_machines.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLook = 50ms;  // at most between two looks at everything
constexpr auto kOwnAbsence = 1000ms;  // a longer gap means that the launcher itself did not run
constexpr auto kJudgementOfARank = 10us;  // 41 ms between two looks at 4,096 ranks
constexpr auto kKilledEndWithin = 3000ms;
constexpr auto kFinishWithin = 5000ms;

}  // namespace

Supervisor::Supervisor(const RunCase& run_case, const LaunchOptions& options, LaunchObserver& observer,
                       RankProcesses& processes, std::vector<UniqueFd> sockets)
    : run_case_(run_case),
      options_(options),
      observer_(observer),
      processes_(processes),
      ranks_(run_case, std::move(sockets)),
      connections_(ranks_),
      rendezvous_(
          [this](int rank, const Message& value) { ranks_[static_cast<std::size_t>(rank)].post(value); },
          [this](int rank, const std::string& what) { fail(ranks_[static_cast<std::size_t>(rank)], ": " + what, true); }),
      hang_watch_(run_case, options, observer, ranks_, processes.remote()),
      end_of_steps_(run_case),
      boot_id_(ddbench::launch::boot_id()),
      alive_(static_cast<int>(ranks_.size())) {}

LaunchOutcome Supervisor::run() {
  last_look_ = next_tick_ = Clock::now();
  deadline_ = Clock::now() + options_.start_deadline;
  processes_.launch();
  while (alive_ > 0) {
    read_connections();
    read_processes();
    take_arrivals();
    tick();
    judge();
  }
  finish();
  return std::move(outcome_);
}

void Supervisor::read_connections() {
  for (SupervisedRank& rank : ranks_) {
    if (rank.channel && rank.channel->overrun()) on_lost(rank);
  }
  for (SupervisedRank* const rank : connections_.wait(processes_.watched(), kLook)) read_rank(*rank);
}

void Supervisor::read_processes() {
  for (const FabricEvent& event : processes_.read_events()) {
    if (event.kind == FabricEvent::Kind::kFailed) {
      stop(store::RunState::kFailed, event.text);
    } else if (event.kind == FabricEvent::Kind::kEnded && phase_ != Phase::kFinishing) {
      root_cause_.add(-1, event.text + processes_.trouble(), false, Clock::now());
    }
    if (event.rank < 0 || event.rank >= static_cast<int>(ranks_.size())) continue;
    SupervisedRank& rank = ranks_[static_cast<std::size_t>(event.rank)];
    if (event.kind == FabricEvent::Kind::kStarted) {
      rank.record.pid = event.value;
    } else if (event.kind == FabricEvent::Kind::kExecFailed) {
      rank.said_why = true;
      fail(rank,
           fmt::format(": {} cannot be executed: {}", options_.executable.string(),
                       std::generic_category().message(event.value)),
           true);
    } else if (event.kind == FabricEvent::Kind::kExited && rank.alive) {
      on_exit(rank, event.value);
    }
  }
  if (processes_.gone()) give_up();
}

void Supervisor::on_exit(SupervisedRank& rank, int wait_status) {
  read_rank(rank);  // what it said before it died
  if (!rank.alive) return;
  const bool orderly = wait_status == 0;
  const bool early = orderly && rank.record.outcome.empty() && phase_ != Phase::kStopping;
  on_end(rank, early ? "ended without a result" : describe_end(wait_status), orderly);
}

void Supervisor::on_end(SupervisedRank& rank, const std::string& end, bool orderly) {
  rank.alive = false;
  --alive_;
  if (rank.phase == SupervisedRank::Phase::kDelivered) {
    if (!orderly && !rank.killed) {
      outcome_.notes.push_back(fmt::format("{} {} after it had delivered its result", rank.name(), end));
    }
    return;
  }
  if (rank.record.outcome.empty() && phase_ != Phase::kStopping) {
    const std::string words =
        last_words(options_.run_directory / fmt::format("rank{}.log", rank.record.rank));
    fail(rank,
         fmt::format(" {}{}{}", end, how_far(rank, " "), words.empty() ? "" : "; its last output: " + words),
         true);
    rank.record.outcome.clear();
  }
  if (!rank.record.outcome.empty()) return;  // it had failed before, and what with is said
  if (rank.killed) {
    rank.record.outcome = "killed by the launcher" + how_far(rank, " ");
  } else if (phase_ == Phase::kStopping && (rank.said_why || orderly)) {
    rank.record.outcome = "stopped by the launcher";
  } else {
    rank.record.outcome = end.starts_with("was ") ? end.substr(4) : end;
  }
}

void Supervisor::fail(SupervisedRank& rank, const std::string& what, bool certain) {
  if (phase_ == Phase::kStopping) return;
  if (rank.record.outcome.empty()) rank.record.outcome = "failed" + what;
  root_cause_.add(rank.record.rank, rank.name() + what, certain, Clock::now());
}

void Supervisor::tick() {
  const SteadyTime now = Clock::now();
  if (now < next_tick_) return;
  next_tick_ = now + 1s;
  observer_.on_tick();
}

/// The launcher itself may be stopped (Ctrl-Z), or held up by a slow disk: that is no fault of the ranks.
void Supervisor::forgive_own_absence(SteadyTime now) {
  const auto absence = now - last_look_;
  last_look_ = now;
  if (absence < kOwnAbsence) return;
  ranks_.forgive(absence);
  hang_watch_.forgive(now);
  deadline_ += absence;
}

void Supervisor::judge() {
  const SteadyTime now = Clock::now();
  // It looks at all ranks: of many, not after each message of one.
  if (now < next_judgement_) return;
  next_judgement_ = now + ranks_.size() * kJudgementOfARank;
  forgive_own_absence(now);
  if (phase_ == Phase::kStarting && !processes_.started()) deadline_ = now + options_.start_deadline;
  if (phase_ == Phase::kStopping || phase_ == Phase::kFinishing) return judge_deadline();
  if (const auto cause = root_cause_.verdict(now)) return stop(store::RunState::kFailed, cause->reason);
  if (observer_.interrupted()) {
    return stop(store::RunState::kInterrupted, observer_.interruption() + how_far());
  }
  if (!preemption_deadline_ && (observer_.preempted() || rank_was_preempted_)) return begin_preemption();
  if (preemption_deadline_ && now >= *preemption_deadline_) {
    return stop(store::RunState::kPreempted,
                fmt::format("preempted{}; a last checkpoint was not written within {}", how_far(),
                            describe_time(options_.preemption_grace)));
  }
  std::vector<RankView> views = ranks_.views();
  hang_watch_.answer_where(views, now);
  std::optional<std::string> reason;
  if (phase_ == Phase::kTraining) reason = hang_watch_.look(views, now);
  if (phase_ == Phase::kStarting) {
    // While ranks find each other, heartbeats show no progress; only silence counts.
    for (RankView& view : views) view.last_progress = now;
    if (now >= deadline_) return stop(store::RunState::kFailed, why_not_started());
  }
  if (!is_program(run_case_)) reason = why_stalled(views, options_.watchdog, now);
  if (reason) {
    for (std::string& note : hang_watch_.notes()) outcome_.notes.push_back(std::move(note));
    stop(store::RunState::kFailed, *reason);
  }
}

void Supervisor::judge_deadline() {
  if (Clock::now() < deadline_) return;
  const bool killed_before = std::all_of(
      ranks_.begin(), ranks_.end(), [](const SupervisedRank& rank) { return !rank.alive || rank.killed; });
  if (killed_before) return give_up();
  for (SupervisedRank& rank : ranks_) {
    if (!rank.alive) continue;
    outcome_.notes.push_back(fmt::format("{} did not exit within {} of the stop request and was killed",
                                         rank.name(), describe_time(granted_)));
    kill(rank);
  }
  deadline_ = Clock::now() + kKilledEndWithin;
}

void Supervisor::stop(store::RunState state, const std::string& reason) {
  if (phase_ == Phase::kStopping) return;
  phase_ = Phase::kStopping;
  // A failure after the request to end is a consequence of it.
  const bool on_the_way = preemption_deadline_ && state == store::RunState::kFailed;
  outcome_.state = on_the_way ? store::RunState::kPreempted : state;
  outcome_.reason = on_the_way ? fmt::format("preempted{}; {}", how_far(), reason) : reason;
  const ErrorCode code = store::was_stopped(outcome_.state) ? ErrorCode::kInterrupted : ErrorCode::kRunFailed;
  const SteadyTime now = Clock::now();
  grant(state == store::RunState::kPreempted ? options_.preemption_grace : options_.grace);
  for (SupervisedRank& rank : ranks_) {
    if (!rank.alive) continue;
    // Who does not answer would not hear it.
    if (rank.phase == SupervisedRank::Phase::kStarted ||
        now - rank.last_heard >= silence(options_.watchdog)) {
      kill(rank);
    } else {
      rank.post(Stop{reason, static_cast<std::int32_t>(code)});
    }
  }
}

/// The ranks have been requested to end, and have so long.
void Supervisor::grant(std::chrono::milliseconds time) {
  granted_ = time;
  deadline_ = Clock::now() + time;
}

void Supervisor::kill(SupervisedRank& rank) {
  rank.killed = true;
  processes_.kill(rank.record.rank);
}

/// Nothing more can be learnt or done: the end of the fabric is the end of every rank.
void Supervisor::give_up() {
  if (phase_ != Phase::kFinishing) {
    stop(store::RunState::kFailed,
         "the process that watches over the ranks died; every rank was killed with it");
  }
  for (SupervisedRank& rank : ranks_) {
    if (rank.alive && rank.record.outcome.empty()) rank.record.outcome = "killed with the run's processes";
    rank.alive = false;
  }
  alive_ = 0;
}

void Supervisor::finish() {
  // The last rank may be gone before the verdict was due.
  if (const auto cause = root_cause_.verdict(SteadyTime::max()))
    stop(store::RunState::kFailed, cause->reason);
  settle_preemption();
  for (SupervisedRank& rank : ranks_) rank.channel.reset();
  settle_job_end(processes_.job_end(kFinishWithin), ranks_, outcome_);
  if (!processes_.gone()) processes_.finish(kFinishWithin);
  outcome_.facts = processes_.facts();
  if (outcome_.state == store::RunState::kDone) end_of_steps_.describe(ranks_, outcome_.facts);
  if (processes_.remote()) {
    set_fact(outcome_.facts, fact_key<"launcher.span_bytes">, span_bytes_);
    describe_machines(run_case_, ranks_, outcome_);
    take_counts(ranks_, outcome_);
  }
  for (const SupervisedRank& rank : ranks_) outcome_.ranks.push_back(rank.record);
}

std::string Supervisor::why_not_started() const {
  const std::string time = describe_time(options_.start_deadline);
  for (const SupervisedRank& rank : ranks_) {
    if (rank.phase == SupervisedRank::Phase::kStarted) {
      return fmt::format("{} did not report within {} of its start{}", rank.name(), time,
                         processes_.trouble());
    }
  }
  const auto missing = std::find_if(ranks_.begin(), ranks_.end(), [](const SupervisedRank& rank) {
    return rank.phase < SupervisedRank::Phase::kTraining;
  });
  return fmt::format("{} was not connected to its peers within {}", missing->name(), time);
}

std::string Supervisor::how_far() const {
  return how_far(ranks_.furthest(), " ");
}

std::string Supervisor::how_far(const SupervisedRank& rank, const char* before, const char* after) const {
  return is_program(run_case_) ? std::string() : before + rank.progress() + after;
}

void Supervisor::begin_preemption() {
  preemption_deadline_ = Clock::now() + options_.preemption_grace;
  const bool keeps_state = run_case_.checkpoint_every > 0 && !is_program(run_case_);
  if (phase_ != Phase::kTraining || !keeps_state)
    return stop(store::RunState::kPreempted, "preempted" + how_far());
  ranks_.post(end_of_steps_.preempt());
}

/// Whether all ranks have trained to a step before the last one, because they were to end.
bool Supervisor::ends_preempted() const {
  return preemption_deadline_ && end_of_steps_.last_step() && !end_of_steps_.was_all();
}

/// After the last rank has ended.
void Supervisor::settle_preemption() {
  if (outcome_.state != store::RunState::kDone || !ends_preempted()) return;
  outcome_.state = store::RunState::kPreempted;
  outcome_.reason = fmt::format("preempted {}, with a checkpoint of it", describe_progress(*end_of_steps_.last_step() + 1));
}

}  // namespace ddbench::launch
