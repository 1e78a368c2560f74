#pragma once

#include <filesystem>
#include <optional>

#include "core/run_case/run_case.h"

namespace ddbench::launch {

/// The content of the command line of a rank other than 0, on Launcher::kEnv.
struct OwnCommand {
  std::optional<RunCase> run_case;    ///< nothing: only rank 0 knows it (--resume)
  std::filesystem::path checkpoints;  ///< folder that has the folders of all runs' checkpoints
};

}  // namespace ddbench::launch
