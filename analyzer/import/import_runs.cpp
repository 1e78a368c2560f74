#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "analyzer/import/imported_run.h"
#include "analyzer/import/numbers.h"
#include "analyzer/store/rows/run_id_sequence.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/rows/run_texts.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/run_case_hash.h"
#include "core/run_case/scheduler_job.h"
#include "core/text/text_hash.h"
#include "core/threads/ahead.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFileBytes = 256'000'000;

/// One rank represents all: the source reports figures for the whole run only.
store::RankRecord only_rank() {
  store::RankRecord rank;
  rank.host = "imported";
  rank.outcome = "ok";
  return rank;
}

/// A run with what is left to do for it before it is stored.
struct ReadyRun {
  ReadyRun(ImportedRun&& run, store::CaseCache& cases) : imported(std::move(run)), texts(imported.run, cases) {}

  ImportedRun imported;
  store::RunTexts texts;
};

constexpr std::size_t kRunsOfBlock = 64;
using RunBlock = std::vector<ReadyRun>;
using TakeRunBlock = std::function<void(const RunBlock&)>;

void add_runs(store::RunStore& store, const RunBlock& block) {
  static const store::RankRecord rank = only_rank();
  std::vector<store::CompleteRun> runs;
  runs.reserve(block.size());
  for (const ReadyRun& ready : block) {
    const ImportedRun& imported = ready.imported;
    runs.push_back({imported.run, ready.texts, {&rank, 1}, imported.steps, imported.collectives});
  }
  store.add_runs(runs);
}

/// Counts the runs of equal cases on equal networks.
class Repetitions {
 public:
  int next(const store::RunRecord& run) {
    return counts_[hash_of_unlabelled(run.run_case) ^ ddbench::hash_text(run.environment.network)]++;
  }

 private:
  std::unordered_map<std::uint64_t, int> counts_;
};

/// Whoever takes the runs wants no more of them.
struct NotWanted {};

/// `next` returns the block to fill, or null when no more runs are wanted; `hand_over` takes what it holds then.
void fill_blocks(const RunSource& runs, const std::function<RunBlock*()>& next, const std::function<void()>& hand_over) {
  store::CaseCache cases;
  RunBlock* block = nullptr;
  try {
    runs([&](ImportedRun&& run) {
      if (block == nullptr) {
        block = next();
        if (block == nullptr) throw NotWanted();
        block->clear();
      }
      block->emplace_back(std::move(run), cases);
      if (block->size() < kRunsOfBlock) return;
      hand_over();
      block = nullptr;
    });
  } catch (const NotWanted&) {
    return;
  }
  if (block != nullptr) hand_over();
}

/// The runs in blocks, made by a thread of its own ahead of the one that stores them, where there are enough to be worth one and the system
/// makes it.
void take_ahead(const RunSource& runs, std::size_t all, const TakeRunBlock& take) {
  const auto take_here = [&] {
    RunBlock block;
    fill_blocks(runs, [&] { return &block; }, [&] { take(block); });
  };
  if (all <= kRunsOfBlock) return take_here();
  const auto produce = [&](Ahead<RunBlock>::Room& room) {
    fill_blocks(runs, [&] { return room.next(); }, [&] { room.hand_over(); });
  };
  std::optional<Ahead<RunBlock>> ahead;
  try {
    ahead.emplace(produce);
  } catch (const std::system_error&) {
    return take_here();
  }
  while (const RunBlock* const block = ahead->take()) take(*block);
}

}  // namespace

ImportResult import_runs(const fs::path& store_file, const RunSource& runs, std::string_view content,
                         const std::string& origin, const ImportProgress& progress) {
  ImportResult result;
  result.sweep_id = "import-" + hash_text(content);
  std::size_t all = 0;
  runs([&](ImportedRun&&) { ++all; });
  auto store = store::RunStore::open(store_file, store::OpenMode::kReadWrite);
  store::Batch batch(store);
  if (!store.runs({.sweep_id = result.sweep_id, .limit = 1}).empty()) {
    result.already_there = true;
    return result;
  }
  store::RunIdSequence ids;
  Repetitions repetitions;
  std::int64_t now = wall_ns();
  const std::string user = current_user();
  const RunSource completed = [&](const TakeRun& take) {
    runs([&](ImportedRun&& imported) {
      store::RunRecord& run = imported.run;
      run.id = ids.next();
      run.sweep_id = result.sweep_id;
      run.repetition = repetitions.next(run);
      run.started_wall_ns = run.finished_wall_ns = now++;
      set_fact(run.environment.facts, fact_key<"import.file">, origin);
      set_fact(run.environment.facts, fact_key<"owner.user">, user);
      take(std::move(imported));
    });
  };
  take_ahead(completed, all, [&](const RunBlock& block) {
    add_runs(store, block);
    for (const ReadyRun& ready : block) {
      result.added.push_back(ready.imported.run.id);
      if (progress) progress(result.added.size(), all);
    }
  });
  batch.commit();
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
