#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/control/launch_contract.h"
#include "harness/launch/control/rank_processes.h"
#include "harness/launch/control/rendezvous.h"
#include "harness/launch/steps/last_step.h"
#include "harness/launch/steps/stopping_rule.h"
#include "harness/launch/supervisor/asked_flights.h"
#include "harness/launch/supervisor/flights.h"
#include "harness/launch/supervisor/root_cause.h"
#include "harness/launch/supervisor/supervised_rank.h"

namespace ddbench::launch {

/// The launcher while ranks live: answers them, watches over them, and brings all of them to an end.
/// Single-threaded.
class Supervisor {
 public:
  /// `sockets`: the launcher's ends of the control sockets, by rank; none where the ranks connect themselves.
  Supervisor(const RunCase& run_case, const LaunchOptions& options, LaunchObserver& observer,
             RankProcesses& processes, std::vector<UniqueFd> sockets);

  /// Starts the ranks and returns when none is left.
  LaunchOutcome run();

 private:
  enum class Phase { kStarting, kTraining, kFinishing, kStopping };

  void wait_for_news();
  void watch(SupervisedRank& rank);
  void read_processes();
  void take_arrivals();
  void read_rank(SupervisedRank& rank);
  void tick();
  void judge();
  void judge_deadline();
  void forgive_own_absence(SteadyTime now);
  void answer_where(const std::vector<RankView>& views, SteadyTime now);
  std::string where_ranks_are_now(const std::vector<RankView>& views, SteadyTime now) const;
  std::vector<RankFlight> flights(bool with_stopped) const;
  void ask_for_flights(SteadyTime now);
  void ask_where_nothing_goes_on(const std::vector<RankView>& views, SteadyTime now);
  std::optional<std::string> who_hangs_elsewhere(const std::vector<RankView>& views, SteadyTime now) const;
  std::optional<std::string> who_hangs(const std::vector<RankView>& views, SteadyTime now) const;
  void tell_of_hang(const std::vector<RankView>& views, SteadyTime now);
  void keep_flights();

  void on(SupervisedRank& rank, const Hello& hello);
  void on(SupervisedRank& rank, const Inventory& inventory);
  void on(SupervisedRank& rank, const Counted& counted);
  void on(SupervisedRank& rank, const Ready& ready);
  void on(SupervisedRank& rank, const Heartbeat& heartbeat);
  void on(SupervisedRank& rank, const KvSet& entry);
  void on(SupervisedRank& rank, const KvGet& request);
  void on(SupervisedRank& rank, const KvGather& request);
  void on(SupervisedRank& rank, const Ping& ping);
  void on(SupervisedRank& rank, const ClockRead& read);
  void on(SupervisedRank& rank, const StepTimes& times);
  void on(SupervisedRank& rank, const Result& result);
  void on(SupervisedRank& rank, const Failure& failure);
  void on(SupervisedRank& rank, const FileChunk& chunk);
  void on(SupervisedRank& rank, const Holding& holding);
  void on(SupervisedRank& rank, const Flight& flight);
  void on(SupervisedRank& rank, const RankOwnTime& time);
  template <typename Unexpected>
  void on(SupervisedRank& rank, const Unexpected& message);

  void assign(SupervisedRank& rank);
  int core_slot(const SupervisedRank& rank) const;
  void on_exit(SupervisedRank& rank, int wait_status);
  void on_lost(SupervisedRank& rank);
  void on_end(SupervisedRank& rank, const std::string& how, bool orderly);
  void fail(SupervisedRank& rank, const std::string& what, bool certain);
  void end_by_margin(StopReason reason);
  void begin_preemption();
  void settle_preemption();
  void settle_job_end();
  std::string lost_ranks(const std::vector<std::string>& nodes) const;
  void describe_end_of_steps();
  /// " after step 17", of the furthest rank or of one; empty for a program, which does not tell of its steps.
  std::string how_far() const;
  std::string how_far(const SupervisedRank& rank, const char* before, const char* after = "") const;
  void stop(store::RunState state, const std::string& reason);
  void kill(SupervisedRank& rank);
  void give_up();
  void finish();
  void describe_machines();
  void take_counts();
  bool all_reached(SupervisedRank::Phase phase) const;
  std::string why_not_started() const;

  const RunCase& run_case_;
  const LaunchOptions& options_;
  LaunchObserver& observer_;
  RankProcesses& processes_;
  std::deque<SupervisedRank> ranks_;
  Rendezvous rendezvous_;
  RootCause root_cause_;
  std::string boot_id_;
  LaunchOutcome outcome_;
  std::uint64_t span_bytes_ = 0;  ///< that spools of ranks elsewhere took on the way
  Phase phase_ = Phase::kStarting;
  int alive_ = 0;
  bool told_to_end_ = false;                       // a rank was, by a scheduler
  std::optional<SteadyTime> preemption_deadline_;  // since the run is to end before its time
  LastStepAgreement agreement_;
  std::optional<StoppingRule> stopping_rule_;        // of a run that ends by its margin
  std::optional<StopReason> stop_reason_;            // since it is to end by it
  std::optional<std::uint32_t> last_step_by_margin_;
  SteadyTime deadline_;                            // of the current phase, where it has one
  SteadyTime next_tick_;
  SteadyTime last_look_;
  SteadyTime next_judgement_;
  UniqueFd watched_;  // epoll: what a look costs grows with those who speak, not with all ranks
  SteadyTime next_hang_look_;
  bool told_of_hang_ = false;
  AskedFlights asked_flights_;                     // of ranks elsewhere
  SteadyTime next_question_;
  std::optional<SteadyTime> where_due_;            // a person waits for where they are
};

}  // namespace ddbench::launch
