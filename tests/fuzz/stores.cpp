// A store of somebody else: merged, checked, reported and pruned, with folders of others around it.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/row_checksum.h"
#include "analyzer/store/sqlite/run_tables.h"
#include "attempt.h"
#include "chunk_seal.h"
#include "core/files/owned_directory.h"
#include "fuzz_targets.h"
#include "harness/cli/store/prune.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/run/checkpoint_folder.h"
#include "outside_watch.h"
#include "sample_store.h"
#include "script.h"
#include "store_reports.h"
#include "store_script.h"
#include "temporary_directory.h"

namespace ddbench::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnRun = "20261121T020000-00abc000";
constexpr const char* kOthersRun = "20261121T030000-0badcafe";
constexpr std::size_t kMostRuns = 6;

void write(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// A folder with ddbench's marker, as runs have them beside their store.
void make_marked(const fs::path& folder, const char* purpose) {
  fs::create_directories(folder.parent_path());
  OwnedDirectory::make(folder).mark(purpose, folder.filename().string());
  if (std::string_view(purpose) == experiment::kOutputPurpose) write(folder / "rank0.log", "a line\n");
}

/// The tree below a root of its own:
///   own/results.db       the store of the user, with its folders and reports
///   own/, data/          what the user has there besides: folders with markers, too
///   foreign/source.db    the store of somebody else
class Site {
 public:
  Site() {
    fs::create_directories(data_);
    fs::create_directories(own_);
    fs::create_directories(foreign_);
    make_templates();
    write(root_ / "thesis.txt", "four years");
    write(own_ / "thesis.txt", "a copy");
    write(data_ / "results.csv", "figures");
    make_marked(data_ / kOwnRun, experiment::kOutputPurpose);
    make_marked(data_ / kOthersRun, experiment::kCheckpointPurpose);
    make_marked(own_ / kOthersRun, experiment::kCheckpointPurpose);
    make_marked(root_ / kOthersRun, experiment::kOutputPurpose);
    fs::create_directory_symlink(data_, own_ / "link");
    reset();
    watch_ = std::make_unique<OutsideWatch>(root_, [](const std::string& name) {
      return name.starts_with("own/results.db") || name.starts_with("own/out") || name.starts_with("foreign");
    });
  }

  void reset() {
    others_.clear();
    for (const char* ending : {"", "-wal", "-shm", "-journal", ".logs", ".checkpoints"}) {
      fs::remove_all(store().string() + ending);
      fs::remove_all(source().string() + ending);
    }
    fs::remove_all(out());
    fs::copy_file(root_ / "own.template", store());
    fs::copy_file(root_ / "foreign.template", source());
    make_marked(experiment::output_directory(store(), kOwnRun), experiment::kOutputPurpose);
  }

  fs::path store() const { return own_ / "results.db"; }
  fs::path source() const { return foreign_ / "source.db"; }
  fs::path out() const { return own_ / "out"; }
  const fs::path& data() const { return data_; }
  StoreValues values() const { return values_of(store::Database(root_ / "foreign.template", store::Access::kExisting)); }
  std::string root() const { return root_.string(); }

  /// A file of others in a folder that may be ddbench's.
  void add_others_file(const fs::path& file) {
    write(file, "mine");
    others_.push_back(file);
  }

  void expect_untouched() const {
    watch_->expect_untouched();
    if (std::any_of(others_.begin(), others_.end(), [](const fs::path& file) { return !fs::exists(file); })) std::abort();
    for (const auto& entry : fs::directory_iterator(own_)) {
      const std::string name = entry.path().filename().string();
      const bool known = name.starts_with("results.db") || name == "out" || name == "thesis.txt" || name == "link" || name == kOthersRun;
      if (!known) std::abort();
    }
  }

 private:
  void make_templates() {
    for (const char* name : {"own", "foreign"}) {
      const fs::path file = root_ / (std::string(name) + ".template");
      auto store = store::RunStore::open(file, store::OpenMode::kReadWrite);
      test::SampleRun run;
      run.number = name[0] == 'o' ? 0 : 1;
      run.run_case.gpus_per_node = 2;
      run.run_case.steps = 14;  // as many as a diagnosis needs, and some
      run.run_case.warmup = 1;
      run.sweep_id = "sweep";
      test::add_sample_run(store, run);
    }
  }

  test::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
  fs::path own_ = root_ / "own";
  fs::path data_ = root_ / "data";
  fs::path foreign_ = root_ / "foreign";
  std::vector<fs::path> others_;
  std::unique_ptr<OutsideWatch> watch_;
};

/// Fills the store of somebody else, and folders beside the user's, as the lines of an input say:
///   run    TAB column=value ...                a copy of the first run with all its rows
///   set    TAB table TAB run TAB column=value ... TAB column==value ...   changes those rows that have the latter
///   delete TAB table TAB run
///   folder TAB logs|checkpoints TAB name TAB plain|marked|others|link     beside the user's store
///   patch  TAB offset TAB hexadecimal bytes    of the file, at the end
///   unsealed                                   rows keep the checksums of what they were, and chunks those that they have
///   report                                     reports are written, too, which takes longest
///   compare                                    runs are compared with each other, too
/// "@" in a value is the root: absolute paths of others' files can be written.
class Author {
 public:
  Author(Site& site, std::string_view text) : site_(site) {
    const store::Database source(site.source(), store::Access::kExisting);
    source.execute("PRAGMA foreign_keys = OFF");
    source.execute("BEGIN");
    for (const std::string_view line : split(text, '\n')) attempt([&] { act(source, split(line, '\t')); });
    if (sealed_) store::compute_checksums(source, true);
    source.execute("COMMIT");
    source.execute_when_free("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  bool wants_reports() const noexcept { return reports_; }
  bool wants_comparisons() const noexcept { return comparisons_; }

  void patch() const {
    std::fstream file(site_.source(), std::ios::binary | std::ios::in | std::ios::out);
    const auto size = static_cast<std::int64_t>(fs::file_size(site_.source()));
    for (const auto& [offset, bytes] : patches_) {
      if (offset < 0 || offset + static_cast<std::int64_t>(bytes.size()) > size) continue;
      file.seekp(offset);
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
  }

 private:
  using Fields = std::vector<std::string_view>;

  void act(const store::Database& source, const Fields& fields) {
    const std::string_view what = fields[0];
    if (what == "run" && runs_ < kMostRuns) return add_run(source, fields);
    if (what == "set" && fields.size() > 3) return change(source, fields);
    if (what == "delete" && fields.size() > 2 && is_table(source, fields[1])) {
      source.prepare(fmt("DELETE FROM {} WHERE run_key = ?", fields[1])).bind(number_in(fields[2])).run();
    } else if (what == "folder" && fields.size() > 3) {
      add_folder(fields[1] == "logs", std::string(fields[2]), fields[3]);
    } else if (what == "patch" && fields.size() > 2) {
      patches_.emplace_back(number_in(fields[1]), bytes_of(fields[2]));
    } else if (what == "unsealed") {
      sealed_ = false;
    } else if (what == "report") {
      reports_ = true;
    } else if (what == "compare") {
      comparisons_ = true;
    }
  }

  static std::string fmt(std::string text, std::string_view table) { return text.replace(text.find("{}"), 2, table); }

  static bool is_table(const store::Database& source, std::string_view name) {
    return name == "run" || !store::table_columns(source, std::string(name)).empty();
  }

  void add_run(const store::Database& source, const Fields& fields) {
    const std::int64_t key = static_cast<std::int64_t>(++runs_) + 1;
    const std::vector<std::string> columns = store::run_columns(source);
    std::string names, values;
    for (const std::string& column : columns) {
      names += ", " + column;
      values += column == "id" ? ", 'copy" + std::to_string(key) + "'" : ", " + column;
    }
    source.execute(("INSERT INTO run (run_key" + names + ") SELECT " + std::to_string(key) + values + " FROM run WHERE run_key = 1").c_str());
    for (const store::RunTable& table : store::run_tables(source)) {
      std::string list;
      for (const std::string& column : table.columns) list += ", " + column;
      source.execute(("INSERT INTO " + table.name + " (run_key" + list + ") SELECT " + std::to_string(key) + list + " FROM " + table.name +
                      " WHERE run_key = 1").c_str());
    }
    Fields set = {"set", "run", {}};
    const std::string number = std::to_string(key);
    set[2] = number;
    set.insert(set.end(), fields.begin() + 1, fields.end());
    if (set.size() > 3) change(source, set);
  }

  void change(const store::Database& source, const Fields& fields) {
    const std::string table(fields[1]);
    std::vector<std::string> columns = store::table_columns(source, table);
    std::string changes, conditions;
    std::vector<std::string_view> changed, required;
    for (std::size_t i = 3; i < fields.size(); ++i) {
      const std::size_t equals = fields[i].find('=');
      if (equals == std::string_view::npos) continue;
      const std::string column(fields[i].substr(0, equals));
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) continue;
      if (fields[i].substr(equals).starts_with("==")) {
        conditions += " AND " + column + " = ?";
        required.push_back(fields[i].substr(equals + 2));
      } else {
        changes += (changes.empty() ? "" : ", ") + column + " = ?";
        changed.push_back(fields[i].substr(equals + 1));
      }
    }
    if (changes.empty()) return;
    store::Statement update = source.prepare("UPDATE " + table + " SET " + changes + " WHERE run_key = ?" + conditions);
    int index = 0;
    for (const std::string_view value : changed) bind(update, ++index, value);
    update.bind_one(++index, number_in(fields[2]));
    for (const std::string_view value : required) bind(update, ++index, value);
    update.run();
  }

  void bind(store::Statement& statement, int index, std::string_view value) const {
    std::int64_t integer = 0;
    double real = 0;
    const char* const end = value.data() + value.size();
    if (std::from_chars(value.data(), end, integer).ptr == end && !value.empty()) return statement.bind_one(index, integer);
    if (std::from_chars(value.data(), end, real).ptr == end && !value.empty()) return statement.bind_one(index, real);
    if (value == "null") return statement.bind_one(index, nullptr);
    if (value.starts_with("0x")) {
      std::string bytes = bytes_of(value.substr(2));
      if (sealed_) seal_chunk(std::as_writable_bytes(std::span(bytes)));
      return statement.bind_one(index, std::as_bytes(std::span(bytes)));
    }
    std::string text;
    for (const char c : value) text += c == '@' ? site_.root() : std::string(1, c);
    statement.bind_one(index, std::string_view(text));
  }

  static std::string bytes_of(std::string_view hexadecimal) {
    std::string bytes;
    for (; hexadecimal.size() >= 2; hexadecimal.remove_prefix(2)) {
      unsigned value = 0;
      std::from_chars(hexadecimal.data(), hexadecimal.data() + 2, value, 16);
      bytes += static_cast<char>(value);
    }
    return bytes;
  }

  void add_folder(bool is_log, const std::string& name, std::string_view kind) {
    if (name.empty() || name.size() > 100 || name == "." || name == ".." || name.find_first_of(std::string("/\0", 2)) != std::string::npos)
      return;
    const fs::path base = is_log ? experiment::output_base(site_.store()) : experiment::checkpoint_base(site_.store());
    if (fs::exists(fs::symlink_status(base / name))) return;
    fs::create_directories(base);
    if (kind == "link") return fs::create_directory_symlink(site_.data() / kOwnRun, base / name);
    if (kind == "plain") {
      fs::create_directory(base / name);
    } else {
      make_marked(base / name, is_log ? experiment::kOutputPurpose : experiment::kCheckpointPurpose);
    }
    if (kind != "marked") site_.add_others_file(base / name / "mine.txt");
  }

  Site& site_;
  std::size_t runs_ = 0;
  bool sealed_ = true;
  bool reports_ = false;
  bool comparisons_ = false;
  std::vector<std::pair<std::int64_t, std::string>> patches_;
};

/// As `ddbench db prune --state ... --yes` does it, without its words.
void prune_all(const Site& site) {
  cli::PruneOptions options;
  options.states = {"failed", "interrupted", "preempted", "done", "running"};
  const cli::PruneChoice choice =
      cli::runs_to_prune(store::RunStore::open(site.store(), store::OpenMode::kReadOnly), options);
  cli::delete_runs(site.store(), choice.runs, store::PruneWhat::kRuns);
}

Site& the_site() {
  static Site site;
  return site;
}

void use_store(Bytes input) {
  Site& site = the_site();
  site.reset();
  const Author author(site, text_of(input));
  author.patch();
  const std::vector<fs::path> sources{site.source()};
  attempt([&] { store::merge_stores(site.store(), sources); });
  attempt([&] { store::check_store(site.store()); });
  attempt([&] { store::check_store(site.source()); });
  if (author.wants_reports()) attempt([&] { report_store(site.store(), site.out()); });
  if (author.wants_comparisons()) attempt([&] { compare_in_store(site.store()); });
  attempt([&] { prune_all(site); });
  site.expect_untouched();
}

std::size_t mutate_script(std::span<std::uint8_t> room, std::size_t size, unsigned seed) {
  static const StoreValues values = the_site().values();
  const std::string mutated = mutated_script(text_of(room.first(size)), values, seed);
  const std::size_t kept = std::min(mutated.size(), room.size());
  std::copy_n(mutated.begin(), kept, room.begin());
  return kept;
}

}  // namespace

const Target kStores{"stores", use_store, nullptr, mutate_script};

}  // namespace ddbench::fuzz
