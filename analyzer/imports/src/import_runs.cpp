#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <sstream>

#include "ddbench/imports/imported_run.h"
#include "ddbench/record/clock.h"
#include "ddbench/record/error.h"
#include "ddbench/store/maintenance.h"
#include "ddbench/store/run_store.h"
#include "numbers.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFileBytes = 256'000'000;

/// A directory that goes with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "ddbench-import-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw_errno(errno, "cannot make a directory for the import in " + name);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

/// One rank stands for all: what was measured elsewhere is told for the whole run.
store::RankRecord only_rank() {
  store::RankRecord rank;
  rank.host = "imported";
  rank.outcome = "ok";
  return rank;
}

void add_run(store::RunStore& store, const ImportedRun& imported) {
  const store::RunId& id = imported.run.id;
  store.create_run(imported.run);
  store.put_ranks(id, std::vector{only_rank()});
  store.put_steps(id, imported.steps);
  store.put_collectives(id, imported.collectives);
}

}  // namespace

ImportResult import_runs(const fs::path& store_file, std::vector<ImportedRun> runs, std::string_view content,
                         const std::string& origin) {
  ImportResult result;
  result.sweep_id = "import-" + hash_text(content);
  if (!store::run_of_sweep(store_file, result.sweep_id).empty()) {
    result.already_there = true;
    return result;
  }
  // A store of its own, then merged: that is the one transaction.
  const TemporaryDirectory directory;
  const fs::path staged = directory.path() / "import.db";
  std::map<std::string, int> repetitions;
  std::int64_t now = wall_ns();
  {
    auto store = store::RunStore::open(staged, store::OpenMode::kReadWrite);
    for (ImportedRun& imported : runs) {
      store::RunRecord& run = imported.run;
      run.id = store::new_run_id();
      run.sweep_id = result.sweep_id;
      run.repetition = repetitions[case_key(run.run_case) + run.environment.network]++;
      run.started_wall_ns = run.finished_wall_ns = now++;
      run.environment.facts[kFactFile] = origin;
      add_run(store, imported);
      result.added.push_back(run.id);
    }
  }
  store::merge_stores(store_file, std::vector{staged});
  return result;
}

std::string read_file(const fs::path& file) {
  std::error_code error;
  const bool readable =
      fs::is_regular_file(file, error) || fs::is_fifo(file, error) || fs::is_character_file(file, error);
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::string block(1 << 16, '\0');
  while (readable && stream && text.size() <= kLargestFileBytes) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!readable || !stream.eof()) {
    throw Error(ErrorCode::kBadInput,
                text.size() > kLargestFileBytes ? fmt::format("{} is larger than {} MB: split it",
                                                              file.string(), kLargestFileBytes / 1'000'000)
                                                : fmt::format("the file {} cannot be read", file.string()),
                errno, file.string());
  }
  return text;
}

}  // namespace ddbench::imports
