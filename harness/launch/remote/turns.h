#pragma once

#include <deque>
#include <memory>
#include <variant>
#include <vector>

#include "harness/launch/control/control_channel.h"
#include "harness/launch/control/launcher_options.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/remote/started_rank.h"

/// Several runs, one after the other, in a world that somebody else has started (Launcher::kEnv): each is on the first nodes of the
/// world and the first ranks of each. Rank 0 calls the turns, the others wait for them.
namespace ddbench::launch {

struct TurnPlace {
  int number = 0;  ///< from 0
  int nodes = 1;
  int gpus_per_node = 1;
};

/// Whether the process with this place in the whole world is a rank of the turn.
bool takes_part(const StartedWorld& world, const TurnPlace& turn);

/// Makes the environment of this process that of a rank of the turn (variables of torchrun; those of other starters are removed), and
/// `launcher` one with a port of the turn's own. `world` is the world that the process was started in, read before the first turn;
/// `token` is its DDBENCH_TOKEN, which each turn takes away.
class TurnWorld {
 public:
  /// Throws as started_world().
  explicit TurnWorld(const LauncherOptions& launcher);
  ~TurnWorld();
  const StartedWorld& world() const noexcept;
  LauncherOptions enter(const TurnPlace& turn) const;

  struct Started;
  const Started& started() const noexcept { return *started_; }

 private:
  std::unique_ptr<Started> started_;
};

/// Rank 0's side. Messages are only the numbers of turns: a rank executes only its own command line.
class TurnCaller {
 public:
  /// Waits for all other ranks of the world: RankAcceptor admits those that know the job's secret, where it has one. Throws
  /// Error{kEnvironment} that names how many did not come before the start deadline, and who was turned away.
  TurnCaller(const TurnWorld& world, const LauncherOptions& launcher);
  /// Without finish() the other ranks fail: this one did not come to its end.
  ~TurnCaller();
  TurnCaller(const TurnCaller&) = delete;
  TurnCaller& operator=(const TurnCaller&) = delete;

  /// A rank that is gone is missed by the turn that needs it.
  void call(int number) noexcept;
  /// There are no more turns; the other ranks exit with this code, if with none that is higher.
  void finish(int exit_code) noexcept;

 private:
  void post(const Message& message) noexcept;

  std::vector<std::unique_ptr<ControlChannel>> ranks_;
};

/// The side of every other rank.
class TurnFollower {
 public:
  /// Throws as log_in (rank_login.h): rank 0 cannot be reached before the start deadline, turns this rank away, or does not
  /// know the job's secret.
  TurnFollower(const TurnWorld& world, const LauncherOptions& launcher);
  ~TurnFollower();
  TurnFollower(const TurnFollower&) = delete;
  TurnFollower& operator=(const TurnFollower&) = delete;

  /// Waits for what comes next. Throws Error{kRunFailed} that names rank 0's host when rank 0 is gone without TurnsEnd.
  std::variant<Turn, TurnsEnd> next();

 private:
  Endpoint caller_at_;
  std::unique_ptr<ControlChannel> caller_;
  std::deque<Message> waiting_;
};

}  // namespace ddbench::launch
