#include "analyzer/store/rows/run_store.h"

#include <fmt/format.h>

#include <limits>

#include "analyzer/store/rows/find_run.h"
#include "analyzer/store/rows/run_id.h"
#include "analyzer/store/rows/run_row.h"
#include "analyzer/store/rows/run_store_impl.h"
#include "analyzer/store/rows/run_texts.h"
#include "analyzer/store/sqlite/open_store.h"
#include "analyzer/store/sqlite/refresh_case_keys.h"
#include "core/error.h"
#include "core/facts/facts.h"

namespace ddbench::store {
namespace {

[[noreturn]] void throw_unknown_run(const RunId& id, const std::filesystem::path& file) {
  throw Error(ErrorCode::kBadInput, fmt::format("there is no run \"{}\" in the store {}", id, file.string()),
              0, file.string());
}

}  // namespace

RunStore RunStore::open(const std::filesystem::path& file, OpenMode mode) {
  return RunStore(std::make_unique<Impl>(open_store(file, mode, builtin_migrations())));
}

RunStore::RunStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

const std::filesystem::path& RunStore::file() const noexcept {
  return impl_->database.file();
}

std::int64_t RunStore::Impl::run_key(const RunId& id) const {
  Statement statement = database.prepare("SELECT run_key FROM run WHERE id = ?");
  if (!statement.bind(id).step()) throw_unknown_run(id, database.file());
  return statement.integer(0);
}

void RunStore::create_run(const RunRecord& run) {
  const RunTexts texts(run, impl_->cases);
  const CompleteRun complete{run, texts, {}, {}, {}};
  add_runs({&complete, 1});
}

void RunStore::add_runs(std::span<const CompleteRun> runs) {
  const Database& database = impl_->database;
  for (const CompleteRun& complete : runs) check_run_id(complete.run.id);
  Transaction transaction(database);
  // SQLite gives the next free number, and by chance where that would be too large.
  const std::int64_t last_key = database.integer("SELECT max(run_key) FROM run");
  if (last_key >= std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(runs.size())) {
    throw Error(ErrorCode::kRunFailed, fmt::format("the store {} has no numbers for more runs: start a new one", file().string()), 0,
                file().string());
  }
  try {
    insert_runs(database, runs);
  } catch (const Error& error) {
    if (error.native_code() != SQLITE_CONSTRAINT_UNIQUE) throw;
    throw Error(ErrorCode::kBadInput,
                runs.size() == 1 ? fmt::format("the store {} already holds a run \"{}\"", file().string(), runs.front().run.id)
                                 : fmt::format("the store {} already holds one of these runs", file().string()),
                0, file().string());
  }
  impl_->insert_measurements(last_key + 1, runs);
  for (const CompleteRun& complete : runs) {
    if (!complete.collectives.empty()) put_collectives(complete.run.id, complete.collectives);
  }
  transaction.commit();
}

void RunStore::update_run(const RunRecord& run) {
  RunRecord stored = run;
  const bool closes = run.state != RunState::kRunning;
  if (closes) stored.environment.facts.erase("owner.heartbeat_wall_ns");
  Transaction transaction(impl_->database);
  impl_->run_key_to_write(run.id);
  replace_run(impl_->database, stored, impl_->cases);
  transaction.commit();
  if (closes && impl_->driven == run.id) let_go();
}

void RunStore::delete_spans(const RunId& id) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key_to_write(id);
  for (const char* table : {"span_chunk", "span_name"})
    impl_->database.prepare(fmt::format("DELETE FROM {} WHERE run_key = ?", table)).bind(key).run();
  transaction.commit();
}

namespace {

struct RunCondition {
  std::string sql;  ///< empty: all runs
  std::vector<std::string> texts;
};

RunCondition condition_of(const Query& query) {
  RunCondition condition;
  const auto require = [&](const char* column, std::string_view text) {
    if (text.empty()) return;
    condition.sql += fmt::format("{}{} = ?", condition.sql.empty() ? "" : " AND ", column);
    condition.texts.emplace_back(text);
  };
  require("sweep_id", query.sweep_id);
  require("name", query.name);
  if (query.state) require("state", to_string(*query.state));
  if (!query.case_key.empty()) require("case_key", stored_case_key(query.case_key));
  require("fingerprint", query.fingerprint);
  return condition;
}

}  // namespace

std::vector<RunRecord> RunStore::runs(const Query& query) const {
  const RunCondition condition = condition_of(query);
  return select_runs(impl_->database, condition.sql, condition.texts, query.limit, impl_->leave_out(), &impl_->cases);
}

std::int64_t RunStore::count(const Query& query) const {
  const RunCondition condition = condition_of(query);
  Statement statement = impl_->database.prepare("SELECT count(*) FROM run" + (condition.sql.empty() ? "" : " WHERE " + condition.sql));
  int place = 0;
  for (const std::string& text : condition.texts) statement.bind_one(++place, text);
  statement.step();
  return statement.integer(0);
}

void RunStore::visit_runs(const std::function<bool(RunRecord&&)>& visit) const {
  store::visit_runs(impl_->database, "", {}, visit, impl_->leave_out(), &impl_->cases);
}

RunRecord RunStore::find(std::string_view reference) const {
  return find_run(impl_->database, reference, impl_->leave_out());
}

RunId RunStore::find_id(std::string_view id_or_part) const {
  return store::find_id(impl_->database, id_or_part, impl_->leave_out());
}

void RunStore::on_unreadable(std::function<void(const UnreadableRun&)> handler) {
  impl_->handler = std::move(handler);
}

std::vector<RunRecord> RunStore::abandoned_runs() const {
  std::vector<RunRecord> running = runs({.state = RunState::kRunning});
  std::erase_if(running, [](const RunRecord& run) { return !is_abandoned(run); });
  return running;
}

std::optional<RunRecord> RunStore::run(const RunId& id) const {
  std::vector<RunRecord> found = select_runs(impl_->database, "id = ?", {id}, 1, impl_->leave_out());
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

// Thousands of runs go to all pages of several indexes: with SQLite's usual 2 MB it writes and reads them again and again. The check of a
// run's state makes a table of the allowed ones for each row; here the state comes from an enumeration.
Batch::Batch(RunStore& store) : database_(&store.impl_->database) {
  database_->execute("PRAGMA cache_size = -32768");  // in KiB
  transaction_ = std::make_unique<Transaction>(*database_);
  database_->execute("PRAGMA ignore_check_constraints = ON");
}

Batch::~Batch() {
  transaction_.reset();
  try {
    database_->execute("PRAGMA ignore_check_constraints = OFF");
  } catch (const Error&) {
    // Without memory for a statement; this connection checks no states then.
  }
}

void Batch::commit() {
  transaction_->commit();
}

}  // namespace ddbench::store
