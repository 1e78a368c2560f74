#include "ddbench/experiment/run_folders.h"

#include <fmt/format.h>

#include <set>

#include "checkpoint_folder.h"
#include "ddbench/record/error.h"
#include "program_output.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

fs::path checkpoints_of(const store::RunRecord& run) {
  const auto found = run.environment.facts.find(kFactCheckpointDirectory);
  return found == run.environment.facts.end() ? fs::path() : fs::path(found->second);
}

void remove_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) {
    throw Error(
        ErrorCode::kEnvironment,
        fmt::format("the runs are deleted, but {} cannot be removed: {}", folder.string(), error.message()),
        error.value(), folder.string());
  }
  fs::remove(folder.parent_path(), error);  // if it was the last
}

}  // namespace

void remove_run_folders(const fs::path& store, std::span<const store::RunRecord> deleted,
                        std::span<const store::RunRecord> kept) {
  std::set<fs::path> needed;
  for (const store::RunRecord& run : kept) needed.insert(checkpoints_of(run));
  for (const store::RunRecord& run : deleted) {
    if (const fs::path output = output_directory(store, run.id); fs::exists(output)) remove_folder(output);
    const fs::path checkpoints = checkpoints_of(run);
    const bool is_ours = checkpoints.parent_path() == checkpoint_base(store);
    if (is_ours && !needed.contains(checkpoints) && fs::exists(checkpoints)) remove_folder(checkpoints);
  }
}

}  // namespace ddbench::experiment
