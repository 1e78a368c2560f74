#include "harness/experiment/ingest/kept_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStoreFile = "store";
constexpr const char* kKeptRunFile = "run.db";  // a store of one run

fs::path store_of(const fs::path& run_directory) {
  std::ostringstream text;
  text << std::ifstream(run_directory / kStoreFile, std::ios::binary).rdbuf();
  return text.str();
}

bool holds_run_or_cannot_tell(const fs::path& store, const store::RunId& id) {
  bool is_open = false;
  try {
    const auto opened = store::RunStore::open(store, store::OpenMode::kReadOnly);
    is_open = true;
    static_cast<void>(opened.find_id(id));
    return true;
  } catch (const Error& error) {
    return !is_open || error.code() != ErrorCode::kBadInput;
  }
}

}  // namespace

void name_store(const fs::path& run_directory, const fs::path& store) {
  const fs::path file = run_directory / kStoreFile;
  std::ofstream stream(file, std::ios::binary);
  stream << fs::absolute(store).string() << std::flush;
  if (!stream) throw_errno(errno, "cannot write " + file.string(), ErrorCode::kEnvironment);
}

void keep_run(const fs::path& run_directory, const KeptRun& kept) noexcept {
  try {
    auto store = store::RunStore::open(run_directory / kKeptRunFile, store::OpenMode::kReadWrite);
    store::Batch batch(store);
    store.create_run(kept.run);
    store.put_ranks(kept.run.id, kept.ranks);
    batch.commit();
  } catch (const std::exception&) {
    // This disk is full as well: the spools have to do.
  }
}

std::optional<KeptRun> kept_run(const fs::path& run_directory, const store::RunId& id) {
  std::error_code ignored;
  if (!fs::exists(run_directory / kKeptRunFile, ignored)) return std::nullopt;
  try {
    const auto store = store::RunStore::open(run_directory / kKeptRunFile, store::OpenMode::kReadOnly);
    if (auto run = store.run(id)) return KeptRun{*std::move(run), store.ranks(id)};
  } catch (const Error&) {
    // Its writer was killed or had no room.
  }
  return std::nullopt;
}

bool has_spools(const fs::path& run_directory) {
  std::error_code error;
  for (fs::directory_iterator entry(run_directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == ".spool" && entry->file_size(ignored) > 0) return true;
  }
  return false;
}

bool is_needed(const fs::path& run_directory) {
  const fs::path store = store_of(run_directory);
  if (store.empty() || !has_spools(run_directory)) return false;
  std::error_code error;
  // With its directory gone, the store may be on a disk that is not mounted now.
  if (!fs::exists(store, error)) return error || !fs::exists(store.parent_path(), error);
  return holds_run_or_cannot_tell(store, run_directory.filename().string());
}

}  // namespace ddbench::experiment
