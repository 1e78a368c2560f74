#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "harness/experiment/sweep/sweep_plan.h"
#include "harness/launch/control/launcher_options.h"
#include "harness/launch/remote/turns.h"

namespace ddbench::cli {

/// A sweep whose ranks already exist (--launcher env): every rank was given the same command and so has the
/// same cells. Rank 0 announces the next cell; the ranks that belong to it take part, the others wait.
class StartedSweep {
 public:
  /// `cells` outlive it. Throws Error{kBadInput} where a cell is larger than the world, or this process is no rank of one.
  StartedSweep(const launch::LauncherOptions& launcher, const std::vector<experiment::SweepCell>& cells);

  /// On rank 0: waits for the others, before the first cell.
  void gather();
  /// On rank 0: announces the cell. Returns the launcher's options of this cell.
  launch::LauncherOptions begin(const experiment::SweepCell& cell);
  /// On rank 0, after the last cell: the other ranks end with this code. Without it they fail, so that whoever started
  /// the ranks starts all of them again.
  void finish(int exit_code);
  /// On all other ranks: takes part in cells until there are no more. `checkpoints` as in launch::OwnCommand.
  /// Returns the exit code. Throws Error{kRunFailed} when rank 0 is gone.
  int follow(const std::filesystem::path& checkpoints);

 private:
  launch::TurnPlace turn_of(std::size_t index) const;

  const std::vector<experiment::SweepCell>& cells_;
  launch::LauncherOptions launcher_;
  launch::TurnWorld world_;
  std::unique_ptr<launch::TurnCaller> caller_;
};

}  // namespace ddbench::cli
