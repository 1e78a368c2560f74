#include "harness/experiment/run/run_folders.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/maintenance/shared_store.h"
#include "analyzer/store/rows/run_id.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/run/checkpoint_folder.h"
#include "harness/experiment/run/resume.h"

namespace ddbench::experiment {

struct RunFolders::Kind {
  std::filesystem::path base;
  const char* purpose;
  IsOurs is_ours;
};

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAside = ".deleting-";

std::string name_aside(const std::string& name) {
  return std::string(kAside) + name;
}

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
  if (store::is_shared(store)) return OwnedDirectory::open_in(base, name);
  const auto parent = OwnedDirectory::open(base);
  return parent ? parent->open_child(name) : std::nullopt;
}

/// Names of what killed processes put aside; empty for what cannot be read.
std::vector<std::string> left_over(const fs::path& base) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kAside) && store::is_run_id(name.substr(kAside.size()))) names.push_back(name.substr(kAside.size()));
  }
  return names;
}

}  // namespace

RunFolders::~RunFolders() {
  for (Folder& folder : aside_) {
    if (folder.of_now) folder.directory.rename(folder.name);
  }
}

void RunFolders::put_aside(const Kind& kind, const std::string& name) try {
  auto folder = open_folder(store_, kind.base, name);
  if (!folder) return;
  const std::string path = folder->path().string();
  const std::string foreign = folder->first_foreign(kind.is_ours);
  if (!folder->is_marked(kind.purpose, name) && !folder->is_unfinished(kind.purpose, name)) {
    notes_.push_back(fmt::format("{} is kept: no marker in it says that this ddbench made it", path));
  } else if (!foreign.empty()) {
    notes_.push_back(fmt::format("{} is kept: it holds {}, which ddbench did not write", path, foreign));
  } else if (!folder->rename(name_aside(name))) {
    notes_.push_back(fmt::format("{} is kept: it cannot be renamed to {}", path, name_aside(name)));
  } else {
    aside_.push_back({std::move(*folder), kind.base, name, true, kind.is_ours});
  }
} catch (const Error& error) {
  notes_.push_back(fmt::format("{} is kept: {}", (kind.base / name).string(), error.message()));
}

void RunFolders::adopt_left_over(const Kind& kind, const std::set<std::string>& kept) {
  for (const std::string& name : left_over(kind.base)) try {
      auto folder = open_folder(store_, kind.base, name_aside(name));
      if (!folder || (!folder->is_marked(kind.purpose, name) && !folder->is_unfinished(kind.purpose, name))) continue;
      if (kept.contains(name)) {
        folder->rename(name);
      } else if (folder->first_foreign(kind.is_ours).empty()) {
        aside_.push_back({std::move(*folder), kind.base, name, false, kind.is_ours});
      }
    } catch (const Error&) {
      // Another user's, who will remove it.
    }
}

void RunFolders::put_aside(std::span<const store::RunRecord> deleted, std::span<const store::RunRecord> kept, bool kept_are_known) {
  const Kind output{output_base(store_), kOutputPurpose, is_output_file};
  const Kind checkpoints{checkpoint_base(store_), kCheckpointPurpose, ddp::is_checkpoint_file};
  std::set<std::string> needed, ids;
  for (const store::RunRecord& run : kept) {
    ids.insert(run.id);
    needed.insert(checkpoints_of(run).filename().string());
  }
  if (kept_are_known) {
    adopt_left_over(output, ids);
    adopt_left_over(checkpoints, needed);
  }
  for (const store::RunRecord& run : deleted) {
    if (!store::is_run_id(run.id)) continue;
    put_aside(output, run.id);
    const std::string name = folder_beside(checkpoints.base, run);
    if (name.empty() || needed.contains(name)) continue;
    if (kept_are_known) {
      put_aside(checkpoints, name);
    } else {
      notes_.push_back(fmt::format("{} is kept: a run that cannot be read may continue from it", (checkpoints.base / name).string()));
    }
  }
}

std::vector<std::string> RunFolders::remove() {
  for (Folder& folder : aside_) {
    folder.of_now = false;
    const std::string path = folder.directory.path().string();
    try {
      if (!folder.directory.remove(folder.is_ours)) notes_.push_back(fmt::format("{} is kept: another program writes to it", path));
      ::rmdir(folder.base.c_str());  // if it was the last
    } catch (const Error& error) {
      notes_.push_back(fmt::format("{} is kept: {}", path, error.message()));
    }
  }
  aside_.clear();
  return std::exchange(notes_, {});
}

void settle_folders_aside(const fs::path& store) noexcept try {
  if (left_over(output_base(store)).empty() && left_over(checkpoint_base(store)).empty()) return;
  RunFolders folders(store);
  store::PruneSteps steps;
  steps.before_commit = [&](std::span<const store::RunId>, const store::RunsLeft& left) {
    folders.put_aside({}, left.readable, left.all_are_readable);
  };
  steps.after_commit = [&] { folders.remove(); };
  store::prune_store(store, {}, store::PruneWhat::kRuns, steps, store::PruneRoom::kKept);
} catch (const std::exception&) {
  // Another process has the store, or it cannot be written.
}

}  // namespace ddbench::experiment
