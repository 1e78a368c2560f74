#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"

namespace ddbench::ddp {

/// Where a run keeps its checkpoints, and where it goes on.
struct CheckpointPlan {
  /// Folder of the run's checkpoints; exists. Empty when the case has none.
  std::filesystem::path directory;
  /// The checkpoint that training continues from (find_checkpoint); empty: it begins.
  std::filesystem::path resume_from;
};

/// A checkpoint is a folder "step-00000100", named after the steps that were done: parameters.safetensors,
/// and the optimizer's state in state-<rank>.safetensors for each rank that keeps one of its own. It is
/// written under another name and renamed when every rank's file is on disk, so one of this name is whole.
struct Checkpoint {
  std::filesystem::path folder;
  std::uint32_t steps_done = 0;
  std::vector<std::string> damaged;  ///< newer ones that were passed over, each with what is wrong with it
};

/// The newest checkpoint in `directory` whose files are all good. Throws Error{kBadInput} when one is of
/// another case, naming each field that differs and both values; when there is none; and when none is good.
Checkpoint find_checkpoint(const std::filesystem::path& directory, const RunCase& run_case);

/// The steps that were done at a checkpoint, by the name of its folder; 0 for another name and an empty one.
std::uint32_t steps_done_at(const std::filesystem::path& checkpoint);

/// Whether `directory` holds a whole checkpoint, good or damaged. A run that was killed before its first leaves a folder without.
bool has_checkpoint(const std::filesystem::path& directory);

/// Whether a run's folder of checkpoints has an entry of this relative path from ddbench (record's IsOurs):
/// "step-00000100/", "step-00000100/state-0.safetensors", ".step-00000100.partial/parameters.safetensors".
bool is_checkpoint_file(const std::string& relative_path);

/// Removes what was begun and not finished, files of others excepted. Throws nothing.
void remove_partial_checkpoints(const std::filesystem::path& directory) noexcept;

}  // namespace ddbench::ddp
