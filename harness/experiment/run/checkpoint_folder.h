#pragma once

#include "harness/experiment/run/execute_run.h"
#include "harness/training/checkpoint/checkpoint.h"

namespace ddbench::experiment {

/// What OwnedDirectory::mark says of a run's folder of checkpoints.
inline constexpr const char* kCheckpointPurpose = "checkpoints";

/// Where a run's checkpoints lie while it runs. Makes the folder, with ddbench's marker, and says in the
/// run's facts where it is and what the run continues. Its end removes what ranks began and did not finish,
/// and a folder without any.
class CheckpointFolder {
 public:
  /// Throws Error{kEnvironment} when the folder cannot be made.
  CheckpointFolder(const ExecuteOptions& options, const std::filesystem::path& store, store::RunRecord& run);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  const ddp::CheckpointPlan& plan() const noexcept { return plan_; }

 private:
  ddp::CheckpointPlan plan_;
  bool is_beside_store_ = false;
};

/// Removes the folder of checkpoints that a run was given beside `store` and never used: of a run that was killed
/// before it was stored. Nothing happens if it holds anything.
void remove_unused_checkpoints(const std::filesystem::path& store, const store::RunId& id) noexcept;

}  // namespace ddbench::experiment
