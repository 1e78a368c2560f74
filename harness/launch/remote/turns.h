#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/unique_handle.h"
#include "harness/launch/control/launcher_options.h"
#include "harness/launch/remote/started_rank.h"

/// Several runs, one after the other, in a world that somebody else has started (Launcher::kEnv): each is on the first nodes of the
/// world and the first ranks of each. Rank 0 calls the turns, the others wait for them.
namespace ddbench::launch {

struct Turn {
  int number = 0;  ///< from 0
  int nodes = 1;
  int gpus_per_node = 1;
};

/// Whether the process with this place in the whole world is a rank of the turn.
bool takes_part(const StartedWorld& world, const Turn& turn);

/// Makes the environment of this process that of a rank of the turn (variables of torchrun; those of other starters are removed), and
/// `launcher` one with a port of the turn's own. `world` is the world that the process was started in, read before the first turn;
/// `token` is its DDBENCH_TOKEN, which each turn takes away.
class TurnWorld {
 public:
  /// Throws as started_world().
  explicit TurnWorld(const LauncherOptions& launcher);
  ~TurnWorld();
  const StartedWorld& world() const noexcept;
  LauncherOptions enter(const Turn& turn) const;

  struct Started;
  const Started& started() const noexcept { return *started_; }

 private:
  std::unique_ptr<Started> started_;
};

/// Rank 0's side. Messages are only the numbers of turns, in plain text: a rank executes only its own command
/// line.
class TurnCaller {
 public:
  /// Waits for all other ranks of the world. Throws Error{kEnvironment} that names how many did not come before the start deadline.
  TurnCaller(const TurnWorld& world, const LauncherOptions& launcher);
  /// Announces to all ranks that there are no more turns.
  ~TurnCaller();
  TurnCaller(const TurnCaller&) = delete;
  TurnCaller& operator=(const TurnCaller&) = delete;

  /// A rank that is gone is missed by the turn that needs it.
  void call(int number) noexcept;

 private:
  std::vector<UniqueFd> ranks_;
};

/// The side of every other rank. Throws Error{kEnvironment} if rank 0 cannot be reached before the start
/// deadline.
class TurnFollower {
 public:
  TurnFollower(const TurnWorld& world, const LauncherOptions& launcher);
  /// The number of the next turn; nothing when there is none, or rank 0 is gone.
  std::optional<int> next();

 private:
  UniqueFd caller_;
};

}  // namespace ddbench::launch
