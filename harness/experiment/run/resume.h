#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "analyzer/store/rows/run_store.h"
#include "harness/training/checkpoint/checkpoint.h"

namespace ddbench::experiment {

/// A run that did not come to its end, and where it goes on.
struct Resume {
  store::RunRecord run;
  std::filesystem::path directory;  ///< of its checkpoints, and of those to come
  ddp::Checkpoint checkpoint;

  /// Whether the checkpoint is that of the last step: it was stopped between its last step and its end.
  bool has_all_steps() const noexcept { return checkpoint.steps_done >= static_cast<std::uint32_t>(run.run_case.total_steps()); }
};

/// Where the folders of all runs' checkpoints lie: `named`, or beside the store when that is empty.
std::filesystem::path checkpoint_base(const std::filesystem::path& store,
                                      const std::filesystem::path& named = {});

/// The last of the runs that continue `run` one after the other ("resumed.from"); the newest where several continue one run. It is
/// `run` itself where none does. All of them write into one folder of checkpoints.
store::RunRecord newest_continuation(const store::RunStore& store, store::RunRecord run);

/// The newest continuation of the run that `reference` names, as RunStore::find takes it. `base`: where the folder of its
/// checkpoints is now, empty: where it was written. Throws Error{kBadInput} for a run that is done or still running, one that wrote
/// no checkpoints, one that nobody named and whose folder is neither that of the run that was named nor beside the store, and as
/// ddp::find_checkpoint.
Resume find_resume(const store::RunStore& store, const std::string& reference,
                   const std::filesystem::path& base);

/// The newest run of that name; in a store that several users share, the newest one of this user.
std::optional<store::RunRecord> newest_of_name(const store::RunStore& store, const std::string& name);

/// What a job that is started again goes on with: newest_of_name() of the case, when it was stopped or
/// failed and left checkpoints. Nothing when there is no such run, when it is done, or when it had none to
/// leave. Throws Error{kBadInput} when the run of that name is one of another case, when without `base` its checkpoints do not lie
/// beside the store (nobody named that folder), and as find_resume.
std::optional<Resume> find_unfinished(const store::RunStore& store, const RunCase& run_case,
                                      const std::filesystem::path& base);

/// Stores as done a run that was stopped after its last step (was_stopped), if the store has all steps of all its ranks; a note of the
/// run says so. Returns whether it did.
bool close_if_complete(store::RunStore& store, const store::RunId& id);

}  // namespace ddbench::experiment
