#include "harness/experiment/run/checkpoint_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/store/maintenance/shared_store.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/files/owned_directory.h"
#include "core/run_case/scheduler_job.h"
#include "core/run_case/step_facts.h"
#include "harness/experiment/ingest/launch_notes.h"
#include "harness/experiment/run/resume.h"

namespace ddbench::experiment {

namespace fs = std::filesystem;

namespace {

void make_folder(const fs::path& folder, const fs::path& store) try {
  const fs::path base = folder.parent_path();
  std::error_code error;
  fs::create_directories(base.parent_path(), error);  // those that the user named
  if (base == checkpoint_base(store)) return store::make_in_folder_beside(store, folder, kCheckpointPurpose);
  ::mkdir(base.c_str(), 0700);  // where it is missing
  OwnedDirectory::make_marked(folder, kCheckpointPurpose);
} catch (const Error& error) {
  throw Error(error.code(), fmt::format("cannot make the directory of checkpoints: {}", error.message()),
              error.native_code(), folder.string());
}

/// A folder that holds nothing but ddbench's marker.
void remove_if_unused(const fs::path& folder) noexcept try {
  const auto directory = OwnedDirectory::open(folder);
  if (directory && directory->is_unfinished(kCheckpointPurpose, folder.filename().string()))
    directory->remove([](const std::string&) { return false; });
} catch (const std::exception&) {
  // It stays.
}

}  // namespace

fs::path checkpoint_base(const fs::path& store, const fs::path& named) {
  if (!named.empty()) return fs::absolute(named);
  fs::path base = store;
  base += ".checkpoints";
  return fs::absolute(base);
}

CheckpointFolder::CheckpointFolder(const ExecuteOptions& options, const fs::path& store,
                                   store::RunRecord& run) {
  if (run.run_case.checkpoint_every == 0) return;
  plan_.directory = options.resume ? options.resume->directory
                                   : checkpoint_base(store, options.checkpoint_directory) / run.id;
  if (!options.resume) make_folder(plan_.directory, store);
  is_beside_store_ = plan_.directory.parent_path() == checkpoint_base(store);
  set_fact(run.environment.facts, fact_key<"checkpoint.directory">, plan_.directory.string());
  if (!options.resume) return;
  plan_.resume_from = options.resume->checkpoint.folder;
  set_fact(run.environment.facts, fact_key<"resumed.from">, options.resume->run.id);
  set_fact(run.environment.facts, fact_key<"resumed.at_step">, options.resume->checkpoint.steps_done);
}

CheckpointFolder::~CheckpointFolder() {
  if (plan_.directory.empty()) return;
  ddp::remove_partial_checkpoints(plan_.directory);
  remove_if_unused(plan_.directory);
  if (is_beside_store_) ::rmdir(plan_.directory.parent_path().c_str());  // if it was the last
}

void remove_unused_checkpoints(const fs::path& store, const store::RunId& id) noexcept try {
  const fs::path base = checkpoint_base(store);
  remove_if_unused(base / id);
  ::rmdir(base.c_str());  // if it was the last
} catch (const std::exception&) {
  // The working directory is gone, or memory: empty folders stay.
}

namespace {

/// What a store says is not enough to read a folder and write into it, where the user has named neither the run nor the folder.
void require_beside_store(const store::RunStore& store, const store::RunId& id, const fs::path& directory) {
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(directory, failed);
  if (!failed && real.parent_path() == fs::weakly_canonical(checkpoint_base(store.file()), failed) && !failed) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("run {} has its checkpoints in {}, which is not a folder beside its store: name that folder's parent with "
                          "--checkpoint-dir, if you trust it", id, directory.string()));
}

}  // namespace

store::RunRecord newest_continuation(const store::RunStore& store, store::RunRecord run) {
  const std::vector<store::RunRecord> of_case = store.runs({.case_key = case_key(run.run_case)});  // newest first
  std::set<store::RunId> seen{run.id};  // a store of others may have runs that continue each other in a circle
  for (;;) {
    const auto next = std::find_if(of_case.begin(), of_case.end(), [&](const store::RunRecord& other) {
      return get_fact(other.environment.facts, fact_key<"resumed.from">).value_or("") == run.id && !seen.contains(other.id);
    });
    if (next == of_case.end()) return run;
    seen.insert(next->id);
    run = *next;
  }
}

Resume find_resume(const store::RunStore& store, const std::string& reference, const fs::path& base) {
  Resume resume;
  const store::RunRecord named = store.find(reference);
  resume.run = newest_continuation(store, named);
  const std::string& id = resume.run.id;
  if (resume.run.state == store::RunState::kDone) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} is complete: there is nothing to continue", id));
  }
  if (resume.run.state == store::RunState::kRunning) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} is still running", id));
  }
  const auto written = get_fact(resume.run.environment.facts, fact_key<"checkpoint.directory">);
  if (!written) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("run {} wrote no checkpoints; --checkpoint-every K makes a run write them", id));
  }
  resume.directory = *written;
  // Who may write a shared store may write anything there, and a run that was merged may say that it continues this one.
  const bool is_named = *written == get_fact(named.environment.facts, fact_key<"checkpoint.directory">).value_or("");
  if (base.empty() && (!is_named || store::is_shared(store.file()))) require_beside_store(store, id, resume.directory);
  if (!base.empty()) resume.directory = fs::absolute(base) / resume.directory.filename();
  resume.checkpoint = ddp::find_checkpoint(resume.directory, resume.run.run_case);
  return resume;
}

std::optional<store::RunRecord> newest_of_name(const store::RunStore& store, const std::string& name) {
  if (!store::is_shared(store.file())) {
    std::vector<store::RunRecord> newest = store.runs({.name = name, .limit = 1});
    return newest.empty() ? std::nullopt : std::optional(std::move(newest.front()));
  }
  const std::string user = current_user();
  for (store::RunRecord& run : store.runs({.name = name})) {
    if (get_fact(run.environment.facts, fact_key<"owner.user">).value_or("") == user) return std::move(run);
  }
  return std::nullopt;
}

std::optional<Resume> find_unfinished(const store::RunStore& store, const RunCase& run_case,
                                      const fs::path& base) {
  const auto newest = newest_of_name(store, run_case.name);
  if (!newest || newest_continuation(store, *newest).state == store::RunState::kDone) return std::nullopt;
  const store::RunRecord& run = *newest;
  RunCase asked = run_case;
  if (asked.sku.empty()) asked.sku = run.run_case.sku;  // the run may have it from its machine
  if (case_key(run.run_case) != case_key(asked)) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} of the name \"{}\" is {} and of another case: give "
                                                  "this one another name, or continue that "
                                                  "one with --resume",
                                                  run.id, run_case.name, to_string(run.state)));
  }
  const auto written = get_fact(run.environment.facts, fact_key<"checkpoint.directory">);
  if (!written) return std::nullopt;
  fs::path directory = *written;
  if (!base.empty()) directory = fs::absolute(base) / directory.filename();
  if (!ddp::has_checkpoint(directory)) return std::nullopt;
  if (base.empty()) require_beside_store(store, run.id, directory);  // of a merged store, the run may be another's
  return find_resume(store, run.id, base);
}

namespace {

/// Whether the store has every step that this run itself had to do, of every rank.
bool has_every_step(const store::RunStore& store, const store::RunRecord& run) {
  const auto first = static_cast<std::uint32_t>(first_own_step(run.environment.facts));
  std::vector<std::uint32_t> next(static_cast<std::size_t>(run.run_case.world_size()), first);
  store.visit_steps(run.id, [&](const store::StepRecord& step) {
    const auto rank = static_cast<std::size_t>(step.rank);
    if (rank < next.size() && step.step == next[rank]) ++next[rank];
  });
  const auto total = static_cast<std::uint32_t>(run.run_case.total_steps());
  return std::all_of(next.begin(), next.end(), [total](std::uint32_t done) { return done >= total; });
}

}  // namespace

bool close_if_complete(store::RunStore& store, const store::RunId& id) {
  auto run = store.run(id);
  if (!run || !store::was_stopped(run->state) || !has_every_step(store, *run)) return false;
  add_notes({fmt::format("{} after its last step: what ranks report at their end may be missing", to_string(run->state))},
            run->environment.facts);
  run->state = store::RunState::kDone;
  run->reason.clear();
  store.update_run(*run);
  return true;
}

}  // namespace ddbench::experiment
