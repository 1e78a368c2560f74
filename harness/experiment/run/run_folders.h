#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::experiment {

/// Removes what runs that were deleted from `store` left beside it: the output of their programs, and
/// checkpoints in the folder that ddbench chose (<store>.checkpoints/<run>), unless one of the runs that are
/// still there continues from it. Folders that the user named are left alone. Whatever the records say, only
/// folders with ddbench's marker directly in <store>.logs and <store>.checkpoints are removed, and of those
/// only if they hold nothing of others. Returns a note for each folder that stays though its run is gone.
std::vector<std::string> remove_run_folders(const std::filesystem::path& store,
                                            std::span<const store::RunRecord> deleted,
                                            std::span<const store::RunRecord> kept);

}  // namespace ddbench::experiment
