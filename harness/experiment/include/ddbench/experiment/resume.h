#pragma once

#include <filesystem>
#include <string>

#include "ddbench/ddp/checkpoint.h"
#include "ddbench/store/run_store.h"

namespace ddbench::experiment {

/// A run that did not come to its end, and where it goes on.
struct Resume {
  store::RunRecord run;
  std::filesystem::path directory;  ///< of its checkpoints, and of those to come
  ddp::Checkpoint checkpoint;
};

/// `reference` as RunStore::find takes it; `base`: where the folder of its checkpoints is now, empty: where it
/// was written. Throws Error{kBadInput} for a run that is done or still running, one that wrote no
/// checkpoints, and as ddp::find_checkpoint.
Resume find_resume(const store::RunStore& store, const std::string& reference, const std::filesystem::path& base);

}  // namespace ddbench::experiment
