#include "run_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>

#include "ddbench/record/error.h"

namespace ddbench::store {
namespace {

using Json = nlohmann::ordered_json;

// bind_row follows this order; read_row reads those up to kReadColumns, as the others are copies out of
// case_json.
constexpr std::array<std::string_view, 34> kColumns = {"id",
                                                       "state",
                                                       "reason",
                                                       "valid",
                                                       "invalid_reason",
                                                       "sweep_id",
                                                       "baseline_id",
                                                       "is_baseline",
                                                       "repetition",
                                                       "provenance",
                                                       "started_wall_ns",
                                                       "finished_wall_ns",
                                                       "case_json",
                                                       "fingerprint",
                                                       "network",
                                                       "facts_json",
                                                       "owner_pid",
                                                       "owner_start_ticks",
                                                       "owner_boot_id",
                                                       "owner_host",
                                                       "name",
                                                       "workload",
                                                       "nodes",
                                                       "gpus_per_node",
                                                       "world_size",
                                                       "scaling",
                                                       "batch_per_gpu",
                                                       "precision",
                                                       "strategy",
                                                       "device",
                                                       "backend",
                                                       "link",
                                                       "sku",
                                                       "case_key"};
constexpr std::size_t kReadColumns = 20;

std::string column_list(std::size_t count = kColumns.size()) {
  return fmt::format("{}", fmt::join(kColumns.begin(), kColumns.begin() + count, ", "));
}

// A row that cannot be read back (a learning rate of NaN) would make every list of runs fail: refused here.
std::string readable_case_json(const RunCase& run_case) {
  std::string json = to_json(run_case);
  static_cast<void>(run_case_from_json(json));
  return json;
}

void bind_row(Statement& statement, const RunRecord& run) {
  const RunCase& run_case = run.run_case;
  const Environment& environment = run.environment;
  const std::string facts = Json(environment.facts).dump(-1, ' ', false, Json::error_handler_t::replace);
  statement.bind(run.id, to_string(run.state), run.reason, run.valid, run.invalid_reason, run.sweep_id,
                 run.baseline_id, run.is_baseline, run.repetition, run.provenance.bits(), run.started_wall_ns,
                 run.finished_wall_ns, readable_case_json(run_case), environment.fingerprint,
                 environment.network, facts, run.owner_pid, run.owner_start_ticks, run.owner_boot_id,
                 run.owner_host, run_case.name, run_case.workload, run_case.nodes, run_case.gpus_per_node,
                 run_case.world_size(), to_string(run_case.scaling), run_case.batch_per_gpu,
                 run_case.precision, run_case.strategy, run_case.device, run_case.backend, run_case.link,
                 run_case.sku, case_key(run_case));
}

RunRecord read_row(const Statement& statement) {
  RunRecord run;
  Environment& environment = run.environment;
  std::string state, case_json, facts;
  std::uint32_t provenance = 0;
  statement.read(run.id, state, run.reason, run.valid, run.invalid_reason, run.sweep_id, run.baseline_id,
                 run.is_baseline, run.repetition, provenance, run.started_wall_ns, run.finished_wall_ns,
                 case_json, environment.fingerprint, environment.network, facts, run.owner_pid,
                 run.owner_start_ticks, run.owner_boot_id, run.owner_host);
  run.state = run_state_from(state);
  run.provenance = ProvenanceSet::from_bits(provenance);
  run.run_case = run_case_from_json(case_json);
  Json::parse(facts).get_to(environment.facts);
  return run;
}

RunRecord read_row_of(const Statement& statement, const std::filesystem::path& file) {
  const auto unreadable = [&](const char* why) {
    std::string id;
    statement.read(id);
    return Error(ErrorCode::kRunFailed,
                 fmt::format("run {} in {} cannot be read: {}", id, file.string(), why), 0, file.string());
  };
  try {
    return read_row(statement);
  } catch (const Error& error) {
    throw unreadable(error.what());
  } catch (const nlohmann::json::exception& error) {
    throw unreadable(error.what());
  }
}

}  // namespace

void insert_run(const Database& database, const RunRecord& run) {
  const std::vector<std::string_view> marks(kColumns.size(), "?");
  Statement statement = database.prepare(
      fmt::format("INSERT INTO run ({}) VALUES ({})", column_list(), fmt::join(marks, ", ")));
  bind_row(statement, run);
  statement.run();
}

bool replace_run(const Database& database, const RunRecord& run) {
  const std::vector<std::string_view> marks(kColumns.size(), "?");
  // The id stands among the values too: parameter 1, which the condition uses again.
  Statement statement = database.prepare(
      fmt::format("UPDATE run SET ({}) = ({}) WHERE id = ?1", column_list(), fmt::join(marks, ", ")));
  bind_row(statement, run);
  statement.run();
  return sqlite3_changes(database.handle()) > 0;
}

std::vector<RunRecord> select_runs(const Database& database, const std::string& condition,
                                   const std::vector<std::string>& texts, int limit) {
  Statement statement = database.prepare(
      fmt::format("SELECT {} FROM run WHERE {} ORDER BY started_wall_ns DESC, run_key DESC LIMIT {}",
                  column_list(kReadColumns), condition.empty() ? "1" : condition, limit > 0 ? limit : -1));
  for (std::size_t index = 0; index < texts.size(); ++index) {
    statement.bind_one(static_cast<int>(index) + 1, texts[index]);
  }
  std::vector<RunRecord> runs;
  while (statement.step()) runs.push_back(read_row_of(statement, database.file()));
  return runs;
}

}  // namespace ddbench::store
