#pragma once

#include <filesystem>
#include <span>

#include "ddbench/store/records.h"

namespace ddbench::experiment {

/// Removes what runs that were deleted from `store` left beside it: the output of their programs, and
/// checkpoints in the folder that ddbench chose (<store>.checkpoints/<run>), unless one of the runs that are
/// still there continues from it. Folders that the user named are left alone. Throws Error{kEnvironment}
/// naming the first folder that cannot be removed.
void remove_run_folders(const std::filesystem::path& store, std::span<const store::RunRecord> deleted,
                        std::span<const store::RunRecord> kept);

}  // namespace ddbench::experiment
