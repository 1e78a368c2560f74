#include "analyzer/store/rows/run_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/store/rows/case_cache.h"
#include "analyzer/store/rows/run_id.h"
#include "analyzer/store/rows/run_texts.h"
#include "analyzer/store/sqlite/row_insertion.h"
#include "core/error.h"
#include "core/span_limits.h"

namespace ddbench::store {
namespace {

using Json = nlohmann::ordered_json;

// write_row follows this order; read_row reads those up to kReadColumns: the others are copies out of
// case_json.
const std::vector<std::string> kColumns = {"id",
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
                                           "case_key",
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
                                           "sku"};
constexpr std::size_t kReadColumns = 21;

std::string read_columns() {
  return fmt::format("{}", fmt::join(kColumns.begin(), kColumns.begin() + kReadColumns, ", "));
}

void write_row(RowValues& values, const RunRecord& run, const RunTexts& texts) {
  const RunCase& run_case = run.run_case;
  const Environment& environment = run.environment;
  values(run.id, to_string(run.state), run.reason, run.valid, run.invalid_reason, run.sweep_id,
         run.baseline_id, run.is_baseline, run.repetition, run.provenance.bits(), run.started_wall_ns,
         run.finished_wall_ns, texts.run_case.json, texts.run_case.key, environment.fingerprint, environment.network, texts.facts,
         run.owner_pid, run.owner_start_ticks, run.owner_boot_id, run.owner_host, run_case.name,
         work_name(run_case.work), run_case.nodes, run_case.gpus_per_node, run_case.world_size(),
         to_string(run_case.scaling), run_case.batch_per_gpu, run_case.precision, run_case.strategy,
         run_case.device, run_case.backend, run_case.link, run_case.sku);
}

RunRecord read_row(const Statement& statement, CaseCache& cases) {
  RunRecord run;
  Environment& environment = run.environment;
  std::string state, case_json, key, facts;
  std::uint32_t provenance = 0;
  statement.read(run.id, state, run.reason, run.valid, run.invalid_reason, run.sweep_id, run.baseline_id,
                 run.is_baseline, run.repetition, provenance, run.started_wall_ns, run.finished_wall_ns,
                 case_json, key, environment.fingerprint, environment.network, facts, run.owner_pid,
                 run.owner_start_ticks, run.owner_boot_id, run.owner_host);
  check_run_id(run.id);
  run.state = run_state_from(state);
  run.provenance = ProvenanceSet::from_bits(provenance);
  run.run_case = cases.case_of(case_json, key);
  nlohmann::json::parse(facts).get_to(environment.facts);
  // A store may come from anybody, and `db check` names what was changed: here, sums of times must only be possible.
  for (std::int64_t* const wall_ns : {&run.started_wall_ns, &run.finished_wall_ns})
    *wall_ns = std::clamp<std::int64_t>(*wall_ns, 0, kLatestWall_ns);
  return run;
}

/// Why the row cannot be read; empty when `run` has it.
std::string read_row_into(RunRecord& run, const Statement& statement, CaseCache& cases) {
  try {
    run = read_row(statement, cases);
    return {};
  } catch (const Error& error) {
    return error.message();
  } catch (const nlohmann::json::exception& error) {
    return error.what();
  }
}

[[noreturn]] void throw_unreadable(const UnreadableRun& run, const std::filesystem::path& file) {
  throw Error(ErrorCode::kRunFailed,
              fmt::format("run {} in {} cannot be read: {}", run.id, file.string(), run.reason), 0,
              file.string());
}

}  // namespace

void insert_runs(const Database& database, std::span<const CompleteRun> runs) {
  static const RowInsertion insertion("INSERT", "INSERT OR FAIL", "run", kColumns);
  insertion.insert(database, runs, [](RowValues& values, const CompleteRun& complete) { write_row(values, complete.run, complete.texts); });
}

bool replace_run(const Database& database, const RunRecord& run, CaseCache& cases) {
  static const ChecksumOrder order(kColumns);
  static const std::string sql = fmt::format("UPDATE run SET ({}, {}) = ({}) WHERE id = ?1", fmt::join(kColumns, ", "), kChecksumColumn,
                                             fmt::join(std::vector<const char*>(kColumns.size() + 1, "?"), ", "));
  const RunTexts texts(run, cases);
  Statement statement = database.prepare(sql);
  RowValues values(statement, order);
  write_row(values, run, texts);
  statement.run();
  return sqlite3_changes(database.handle()) > 0;
}

void visit_runs(const Database& database, const std::string& condition, const std::vector<std::string>& texts,
                const VisitRun& visit, const OnUnreadable& leave_out, CaseCache* cases) {
  CaseCache own_cases;
  if (cases == nullptr) cases = &own_cases;
  Statement statement =
      database.prepare(fmt::format("SELECT {} FROM run WHERE {} ORDER BY started_wall_ns DESC, run_key DESC",
                                   read_columns(), condition.empty() ? "1" : condition));
  for (std::size_t index = 0; index < texts.size(); ++index) {
    statement.bind_one(static_cast<int>(index) + 1, texts[index]);
  }
  while (statement.step()) {
    RunRecord run;
    UnreadableRun unreadable;
    unreadable.reason = read_row_into(run, statement, *cases);
    if (unreadable.reason.empty()) {
      if (!visit(std::move(run))) return;
      continue;
    }
    statement.read(unreadable.id);
    if (!leave_out) throw_unreadable(unreadable, database.file());
    leave_out(unreadable);
  }
}

std::vector<RunRecord> select_runs(const Database& database, const std::string& condition,
                                   const std::vector<std::string>& texts, int limit,
                                   const OnUnreadable& leave_out, CaseCache* cases) {
  std::vector<RunRecord> runs;
  const auto add = [&](RunRecord&& run) {
    runs.push_back(std::move(run));
    return limit <= 0 || runs.size() < static_cast<std::size_t>(limit);
  };
  visit_runs(database, condition, texts, add, leave_out, cases);
  return runs;
}

}  // namespace ddbench::store
