#include <fmt/format.h>

#include <map>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_row.h"
#include "analyzer/store/rows/stored_spans.h"
#include "analyzer/store/sqlite/journal.h"
#include "analyzer/store/sqlite/open_store.h"
#include "analyzer/store/sqlite/row_checksum.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

constexpr int kMostOfAKind = 10;

/// Collects problems, up to a maximum of each kind.
class Problems {
 public:
  explicit Problems(std::vector<std::string>& found) : found_(found) {}

  void add(const std::string& kind, const std::string& problem) {
    const int count = ++counts_[kind];
    if (count <= kMostOfAKind) found_.push_back(problem);
    if (count == kMostOfAKind + 1) found_.push_back(fmt::format("... and more: {}", kind));
  }

 private:
  std::vector<std::string>& found_;
  std::map<std::string, int> counts_;
};

void check_sqlite(const Database& database, Problems& problems) {
  std::string text;
  Statement integrity = database.prepare("PRAGMA integrity_check(20)");
  while (integrity.step()) {
    integrity.read(text);
    if (text != "ok") problems.add("damaged pages", text);
  }
  Statement references = database.prepare("PRAGMA foreign_key_check");
  while (references.step()) {
    references.read(text);
    problems.add("rows without a run", fmt::format("a row of table {} belongs to no run", text));
  }
}

void check_runs(const Database& database, Problems& problems) {
  Statement ids = database.prepare("SELECT id FROM run");
  std::string id;
  while (ids.step()) {
    ids.read(id);
    try {
      select_runs(database, "id = ?", {id}, 1);
    } catch (const Error& error) {
      problems.add("runs that cannot be read", error.message());
    }
  }
}

void check_steps(const Database& database, Problems& problems) {
  Statement wrong = database.prepare(
      "SELECT id, step, rank FROM step JOIN run USING (run_key) WHERE duration_ns < 0 OR (probes_on AND "
      "forward_ns + "
      "backward_ns + optimizer_ns + other_compute_ns + cpu_wait_ns + exposed_transfer_ns + exposed_peer_wait_ns + copy_ns "
      "+ "
      "data_wait_ns + host_ns + idle_ns <> duration_ns)");
  while (wrong.step()) {
    std::string id;
    std::int64_t step = 0, rank = 0;
    wrong.read(id, step, rank);
    problems.add("steps whose parts do not sum to them",
                 fmt::format("run {}: the parts of step {} of rank {} do not sum to it", id, step, rank));
  }
}

void check_chunks(const Database& database, CheckResult& result, Problems& problems) {
  Statement chunks = database.prepare(
      "SELECT id, rank, position, span_count, chunk FROM span_chunk JOIN run USING (run_key)");
  std::vector<Span> spans;
  while (chunks.step()) {
    std::string id;
    std::int64_t rank = 0, position = 0, count = 0;
    chunks.read(id, rank, position, count);
    const std::string chunk = fmt::format("run {}: chunk {} of rank {}'s spans", id, position, rank);
    try {
      spans.clear();
      decode_stored_spans(chunks.blob(4), spans);
    } catch (const Error& error) {
      problems.add("span chunks that cannot be read", fmt::format("{}: {}", chunk, error.message()));
      continue;
    }
    result.spans += static_cast<std::int64_t>(spans.size());
    if (static_cast<std::int64_t>(spans.size()) != count) {
      problems.add("span chunks of another size",
                   fmt::format("{} holds {} spans, its row says {}", chunk, spans.size(), count));
    }
  }
}

void check_checksums(const Database& database, Problems& problems) {
  for (const std::string& table : tables_without_checksums(database))
    problems.add("damaged tables", fmt::format("the definition of table {} is damaged", table));
  for (const ChangedRow& row : changed_rows(database, kMostOfAKind + 1)) {
    problems.add("changed rows of table " + row.table,
                 fmt::format("{}the row of table {} with {} is damaged: it is not as it was stored",
                             row.run.empty() ? "" : fmt::format("run {}: ", row.run), row.table, row.key));
  }
}

/// A damaged page ends that part of the check, not the others.
template <typename Check>
void attempt(Problems& problems, Check&& check) {
  try {
    check();
  } catch (const Error& error) {
    problems.add("what cannot be read", error.message());
  }
}

}  // namespace

std::string journal_in_use(const std::filesystem::path& file) {
  const FileSystem system = inspect_file_system(std::filesystem::absolute(file).parent_path());
  std::error_code ignored;
  std::optional<Journal> journal;
  if (std::filesystem::is_regular_file(file, ignored)) journal = journal_of(Database(file, Access::kExisting));
  const Journal where_maps_are_shared = journal.value_or(Journal::kLog);
  return describe_journal(system.shares_maps ? where_maps_are_shared : Journal::kRollback, system);
}

CheckResult check_store(const std::filesystem::path& file) {
  const Database database = open_store(file, OpenMode::kReadOnly, builtin_migrations());
  CheckResult result;
  result.journal = journal_in_use(file);
  Problems problems(result.problems);
  attempt(problems, [&] { check_sqlite(database, problems); });
  attempt(problems, [&] { result.runs = database.integer("SELECT count(*) FROM run"); });
  attempt(problems, [&] { result.steps = database.integer("SELECT count(*) FROM step"); });
  attempt(problems, [&] { check_runs(database, problems); });
  attempt(problems, [&] { check_checksums(database, problems); });
  attempt(problems, [&] { check_steps(database, problems); });
  attempt(problems, [&] { check_chunks(database, result, problems); });
  return result;
}

}  // namespace ddbench::store
