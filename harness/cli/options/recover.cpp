#include "harness/cli/options/recover.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/experiment/recover/recover_runs.h"
#include "harness/experiment/recover/take_over.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

std::string text_of(const experiment::RecoveredRun& run) {
  return fmt::format("recovered run {}: {}, {} step rows\n", run.id, store::to_string(run.state), run.steps);
}

/// One that is stored as running, though its ddbench is gone: as `run --resume` closes it.
experiment::RecoveredRun close_run(store::RunStore& store, const store::RunId& id, bool forced) {
  const auto announce = [](const std::string& what) { print_error("note: " + printable(what) + "\n"); };
  experiment::take_over(store, id, {.forced = forced, .announce = announce});
  const auto run = store.run(id);
  return {id, run ? run->state : store::RunState::kInterrupted, store.steps(id).size()};
}

experiment::Recovery recover_one(store::RunStore& store, const std::string& reference, bool forced) {
  const store::RunId id = store.find_id(reference);
  const auto run = store.run(id);
  if (!run) throw Error(ErrorCode::kRunFailed, fmt::format("run {} cannot be read", id), 0, id);
  experiment::Recovery recovery;
  if (!experiment::can_recover(*run)) {
    if (run->state == store::RunState::kRunning) recovery.runs.push_back(close_run(store, id, forced));
    return recovery;
  }
  recovery.runs.push_back(experiment::recover_run(store, *run));
  return recovery;
}

void print_recovered_json(const std::filesystem::path& file, const experiment::Recovery& recovery) {
  nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                 {"store", file.string()},
                                 {"recovered", nlohmann::ordered_json::array()},
                                 {"failures", recovery.failures}};
  for (const experiment::RecoveredRun& run : recovery.runs) {
    json["recovered"].push_back(
        {{"id", run.id}, {"state", store::to_string(run.state)}, {"step_rows", run.steps}});
  }
  print_json(json);
}

}  // namespace

void recover_runs(store::RunStore& store) {
  const experiment::Recovery recovery = experiment::recover_runs(store);
  for (const experiment::RecoveredRun& run : recovery.runs) print_error("note: " + text_of(run));
  for (const std::string& failure : recovery.failures)
    print_error(fmt::format("note: {}\n", printable(failure)));
}

bool recover_run_to_show(const std::string& db_option, const store::RunRecord& run) {
  if (!experiment::can_recover(run)) return false;
  print_error(
      fmt::format("note: run {} was not stored completely: recovering what its ranks measured\n", run.id));
  try {
    auto store = open_store(db_option, store::OpenMode::kReadWrite);
    print_error("note: " + text_of(experiment::recover_run(store, run)));
    return true;
  } catch (const Error& error) {
    print_error(fmt::format("note: {}\n", printable(error.message())));
    return false;
  }
}

int recover(const RecoverOptions& options) {
  if (options.force && options.run.empty()) throw Error(ErrorCode::kBadInput, "--force needs the run that is to be closed");
  const std::filesystem::path file = store_path(options.db);
  store::RunStore::open(file, store::OpenMode::kReadOnly);  // one that is missing must not be created
  auto store = open_store(options.db, store::OpenMode::kReadWrite);
  const experiment::Recovery recovery =
      options.run.empty() ? experiment::recover_runs(store) : recover_one(store, options.run, options.force);
  if (options.json) {
    print_recovered_json(file, recovery);
  } else {
    for (const experiment::RecoveredRun& run : recovery.runs) print(text_of(run));
    if (recovery.runs.empty() && recovery.failures.empty())
      print(fmt::format("{}: nothing to recover{}\n", printable(file.string()),
                        options.run.empty() ? "" : ", the run is complete"));
  }
  for (const std::string& failure : recovery.failures)
    print_error(fmt::format("ddbench: {}\n", printable(failure)));
  return recovery.failures.empty() ? 0 : static_cast<int>(ErrorCode::kRunFailed);
}

}  // namespace ddbench::cli
