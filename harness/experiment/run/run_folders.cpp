#include "harness/experiment/run/run_folders.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/store/maintenance/shared_store.h"
#include "analyzer/store/rows/run_id.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/files/owned_directory.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/run/checkpoint_folder.h"
#include "harness/experiment/run/resume.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

fs::path checkpoints_of(const store::RunRecord& run) {
  return get_fact(run.environment.facts, fact_key<"checkpoint.directory">).value_or("");
}

/// The name of the run's folder of checkpoints beside the store; empty when it has none there. The fact may
/// be that of a store of somebody else.
std::string folder_beside(const fs::path& base, const store::RunRecord& run) {
  const fs::path checkpoints = checkpoints_of(run);
  const std::string name = checkpoints.filename().string();
  return checkpoints.parent_path() == base && store::is_run_id(name) ? name : std::string();
}

/// Of a store that several users share, `base` may be another user's: the folder itself must be this user's.
std::optional<OwnedDirectory> open_folder(const fs::path& store, const fs::path& base, const std::string& name) {
  store::refuse_link(store, base);
  if (store::is_shared(store)) return OwnedDirectory::open(base / name);
  const auto parent = OwnedDirectory::open(base);
  return parent ? parent->open_child(name) : std::nullopt;
}

/// Why the folder `name` in `base` stays; empty when it is gone.
std::string remove_folder(const fs::path& store, const fs::path& base, const std::string& name, const char* purpose,
                          const IsOurs& is_ours) try {
  const auto folder = open_folder(store, base, name);
  if (!folder) return {};
  const std::string path = folder->path().string();
  if (!folder->is_marked(purpose, name) && !folder->is_unfinished(purpose, name))
    return fmt::format("{} is kept: no marker in it says that this ddbench made it", path);
  const std::string foreign = folder->first_foreign(is_ours);
  if (!foreign.empty())
    return fmt::format("{} is kept: it holds {}, which ddbench did not write", path, foreign);
  if (!folder->remove(is_ours)) return fmt::format("{} is kept: another program writes to it", path);
  ::rmdir(base.c_str());  // if it was the last
  return {};
} catch (const Error& error) {
  return fmt::format("{} is kept: {}", (base / name).string(), error.message());
}

}  // namespace

std::vector<std::string> remove_run_folders(const fs::path& store, std::span<const store::RunRecord> deleted,
                                            std::span<const store::RunRecord> kept) {
  const fs::path base = checkpoint_base(store);
  std::set<std::string> needed;
  for (const store::RunRecord& run : kept) needed.insert(checkpoints_of(run).filename().string());
  std::vector<std::string> notes;
  for (const store::RunRecord& run : deleted) {
    if (!store::is_run_id(run.id)) continue;
    notes.push_back(remove_folder(store, output_base(store), run.id, kOutputPurpose, is_output_file));
    const std::string checkpoints = folder_beside(base, run);
    if (checkpoints.empty() || needed.contains(checkpoints)) continue;
    notes.push_back(remove_folder(store, base, checkpoints, kCheckpointPurpose, ddp::is_checkpoint_file));
  }
  std::erase(notes, "");
  return notes;
}

}  // namespace ddbench::experiment
