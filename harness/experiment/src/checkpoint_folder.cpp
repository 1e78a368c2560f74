#include "checkpoint_folder.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "ddbench/experiment/resume.h"
#include "ddbench/record/error.h"

namespace ddbench::experiment {

namespace fs = std::filesystem;

namespace {

/// A folder for each run, beside its store unless told otherwise.
fs::path new_directory(const ExecuteOptions& options, const fs::path& store, const store::RunId& id) {
  const fs::path named = options.checkpoint_directory;
  return (named.empty() ? checkpoint_base(store) : fs::absolute(named)) / id;
}

}  // namespace

fs::path checkpoint_base(const fs::path& store) {
  fs::path base = store;
  base += ".checkpoints";
  return fs::absolute(base);
}

CheckpointFolder::CheckpointFolder(const ExecuteOptions& options, const fs::path& store,
                                   store::RunRecord& run) {
  if (run.run_case.checkpoint_every == 0) return;
  plan_.directory = options.resume ? options.resume->directory : new_directory(options, store, run.id);
  std::error_code error;
  fs::create_directories(plan_.directory, error);
  if (error) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("cannot make the directory of checkpoints {}: {}", plan_.directory.string(),
                            error.message()),
                error.value(), plan_.directory.string());
  }
  run.environment.facts[kFactCheckpointDirectory] = plan_.directory.string();
  if (!options.resume) return;
  plan_.resume_from = options.resume->checkpoint.folder;
  run.environment.facts[kFactResumedFrom] = options.resume->run.id;
  run.environment.facts[kFactResumedAtStep] = std::to_string(options.resume->checkpoint.steps_done);
}

CheckpointFolder::~CheckpointFolder() {
  if (plan_.directory.empty()) return;
  ddp::remove_partial_checkpoints(plan_.directory);
  std::error_code holds_checkpoints;
  fs::remove(plan_.directory, holds_checkpoints);
  fs::remove(plan_.directory.parent_path(), holds_checkpoints);
}

Resume find_resume(const store::RunStore& store, const std::string& reference, const fs::path& base) {
  Resume resume;
  resume.run = store.find(reference);
  const std::string& id = resume.run.id;
  if (resume.run.state == store::RunState::kDone) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} is complete: there is nothing to continue", id));
  }
  if (resume.run.state == store::RunState::kRunning) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} is still running", id));
  }
  const auto written = resume.run.environment.facts.find(kFactCheckpointDirectory);
  if (written == resume.run.environment.facts.end()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("run {} wrote no checkpoints; --checkpoint-every K makes a run write them", id));
  }
  resume.directory = written->second;
  if (!base.empty()) resume.directory = fs::absolute(base) / resume.directory.filename();
  resume.checkpoint = ddp::find_checkpoint(resume.directory, resume.run.run_case);
  return resume;
}

std::optional<Resume> find_unfinished(const store::RunStore& store, const RunCase& run_case,
                                      const fs::path& base) {
  const std::vector<store::RunRecord> newest = store.runs({.name = run_case.name, .limit = 1});
  if (newest.empty() || newest.front().state == store::RunState::kDone) return std::nullopt;
  const store::RunRecord& run = newest.front();
  if (case_key(run.run_case) != case_key(run_case)) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} of the name \"{}\" is {} and of another case: give "
                                                  "this one another name, or continue that "
                                                  "one with --resume",
                                                  run.id, run_case.name, to_string(run.state)));
  }
  const auto written = run.environment.facts.find(kFactCheckpointDirectory);
  if (written == run.environment.facts.end()) return std::nullopt;
  fs::path directory = written->second;
  if (!base.empty()) directory = fs::absolute(base) / directory.filename();
  std::error_code none;
  if (fs::is_empty(directory, none) || none) return std::nullopt;
  return find_resume(store, run.id, base);
}

}  // namespace ddbench::experiment
