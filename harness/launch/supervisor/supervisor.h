#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/launch/control/launch_contract.h"
#include "harness/launch/control/rank_processes.h"
#include "harness/launch/control/rendezvous.h"
#include "harness/launch/supervisor/end_of_steps.h"
#include "harness/launch/supervisor/hang_watch.h"
#include "harness/launch/supervisor/rank_connections.h"
#include "harness/launch/supervisor/root_cause.h"
#include "harness/launch/supervisor/supervised_ranks.h"

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

  void read_connections();
  void read_processes();
  void take_arrivals();
  void read_rank(SupervisedRank& rank);
  void tick();
  void judge();
  void judge_deadline();
  void forgive_own_absence(SteadyTime now);

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
  void on_exit(SupervisedRank& rank, int wait_status);
  void on_lost(SupervisedRank& rank);
  void on_end(SupervisedRank& rank, const std::string& how, bool orderly);
  void fail(SupervisedRank& rank, const std::string& what, bool certain);
  void begin_preemption();
  void settle_preemption();
  bool ends_preempted() const;
  /// " after step 17", of the furthest rank or of one; empty for a program, whose steps are not known.
  std::string how_far() const;
  std::string how_far(const SupervisedRank& rank, const char* before, const char* after = "") const;
  void stop(store::RunState state, const std::string& reason);
  void grant(std::chrono::milliseconds time);
  void kill(SupervisedRank& rank);
  void give_up();
  void finish();
  std::string why_not_started() const;

  const RunCase& run_case_;
  const LaunchOptions& options_;
  LaunchObserver& observer_;
  RankProcesses& processes_;
  SupervisedRanks ranks_;
  RankConnections connections_;
  Rendezvous rendezvous_;
  RootCause root_cause_;
  HangWatch hang_watch_;
  EndOfSteps end_of_steps_;
  std::string boot_id_;
  LaunchOutcome outcome_;
  std::uint64_t span_bytes_ = 0;  ///< of spools that ranks elsewhere sent
  Phase phase_ = Phase::kStarting;
  int alive_ = 0;
  bool rank_was_preempted_ = false;                ///< a scheduler's signal reached a rank
  std::optional<SteadyTime> preemption_deadline_;  ///< set once the run is to end before its time
  SteadyTime deadline_;                            ///< of the current phase, if it has one
  std::chrono::milliseconds granted_{0};           ///< how long that is from the request to the ranks to end
  SteadyTime next_tick_;
  SteadyTime last_look_;
  SteadyTime next_judgement_;
};

}  // namespace ddbench::launch
