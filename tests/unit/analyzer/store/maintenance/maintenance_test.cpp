#include "analyzer/store/maintenance/maintenance.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analyzer/store/sqlite/database.h"
#include "ddp_trace.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

constexpr int kTraceSteps = 200;

/// A run with rows in every table.
void add_run(const fs::path& file, const std::string& id, std::uint64_t seed = 1) {
  RunStore store = RunStore::open(file, OpenMode::kReadWrite);
  RunRecord run = test::full_run(id);
  run.id = id;
  run.state = RunState::kDone;
  store.create_run(run);
  const std::vector<RankRecord> ranks = {test::full_rank(0), test::full_rank(1)};
  store.put_ranks(id, ranks);
  StepRecord step;
  step.step = 3;
  step.duration_ns = 70;
  step.partition.ns = {10, 20, 30, 0, 0, 0, 0, 0, 0, 0, 10};
  store.put_steps(id, std::vector<StepRecord>{step});
  store.put_collectives(id, std::vector<CollectiveRecord>{{"all_reduce", 0, 1024, 7, 100, 120, 20, true}});
  store.put_kernels(id, std::vector<KernelRecord>{{"linear", "forward", 4, 400, 120}});
  store.append_step_values(id, 0, "loss", std::vector<std::pair<std::uint32_t, double>>{{3, 0.5}});
  const test::Trace trace = test::ddp_trace({.steps = kTraceSteps, .seed = seed});
  store.append_spans(id, 1, trace.spans, trace.names);
}

std::vector<RunId> ids_of(const fs::path& file) {
  std::vector<RunId> ids;
  for (const RunRecord& run : RunStore::open(file, OpenMode::kReadOnly).runs()) ids.push_back(run.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<fs::path> list(std::initializer_list<fs::path> files) {
  return files;
}

TEST(MergeStores, BringsEverythingAndTwiceChangesNothing) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  add_run(directory / "b.db", "20260101T000001-bbbbbbbb", 2);
  add_run(directory / "b.db", "20260101T000002-cccccccc", 3);
  const MergeResult first = merge_stores(directory / "a.db", list({directory / "b.db"}));
  EXPECT_EQ(first.added.size(), 2u);
  EXPECT_TRUE(first.unchanged.empty());
  EXPECT_EQ(ids_of(directory / "a.db").size(), 3u);

  const RunStore merged = RunStore::open(directory / "a.db", OpenMode::kReadOnly);
  const RunStore source = RunStore::open(directory / "b.db", OpenMode::kReadOnly);
  const RunId id = "20260101T000001-bbbbbbbb";
  test::expect_same(*merged.run(id), *source.run(id));
  EXPECT_EQ(merged.ranks(id).size(), 2u);
  EXPECT_EQ(merged.steps(id).at(0).duration_ns, 70);
  EXPECT_EQ(merged.collectives(id).at(0).bytes, 1024u);
  EXPECT_EQ(merged.kernels(id).at(0).name, "linear");
  EXPECT_EQ(merged.step_values(id, 0, "loss").at(0).second, 0.5);
  EXPECT_EQ(merged.spans(id, 1), source.spans(id, 1));
  EXPECT_EQ(merged.span_names(id, 1), source.span_names(id, 1));

  const MergeResult second = merge_stores(directory / "a.db", list({directory / "b.db"}));
  EXPECT_TRUE(second.added.empty());
  EXPECT_EQ(second.unchanged.size(), 2u);
  EXPECT_EQ(ids_of(directory / "a.db").size(), 3u);
  EXPECT_TRUE(check_store(directory / "a.db").problems.empty());
}

TEST(MergeStores, SeveralSourcesMakeANewStore) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  add_run(directory / "b.db", "20260101T000001-bbbbbbbb");
  merge_stores(directory / "new.db", list({directory / "a.db", directory / "b.db"}));
  EXPECT_EQ(ids_of(directory / "new.db").size(), 2u);
}

TEST(MergeStores, ClashingIdsAreNamedAndNothingIsMerged) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa", 1);
  add_run(directory / "b.db", "20260101T000000-aaaaaaaa", 2);  // other spans
  add_run(directory / "b.db", "20260101T000001-bbbbbbbb");
  EXPECT_ERROR(ErrorCode::kBadInput, "20260101T000000-aaaaaaaa (differs in: span_chunk)",
               merge_stores(directory / "a.db", list({directory / "b.db"})));
  EXPECT_EQ(ids_of(directory / "a.db").size(), 1u);
  // Between two sources, into a store that did not exist: it does not exist afterwards either.
  EXPECT_ERROR(ErrorCode::kBadInput, "nothing was merged",
               merge_stores(directory / "new.db", list({directory / "a.db", directory / "b.db"})));
  EXPECT_FALSE(fs::exists(directory / "new.db"));
}

TEST(MergeStores, AnotherNameOfTheSameRunIsAClash) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  add_run(directory / "b.db", "20260101T000000-aaaaaaaa");
  RunStore store = RunStore::open(directory / "b.db", OpenMode::kReadWrite);
  RunRecord run = *store.run("20260101T000000-aaaaaaaa");
  run.reason = "another";
  store.update_run(run);
  EXPECT_ERROR(ErrorCode::kBadInput, "differs in: reason",
               merge_stores(directory / "a.db", list({directory / "b.db"})));
}

TEST(MergeStores, ARunWhoseSpansOneStoreHasDeletedIsTheSame) {
  const TemporaryDirectory directory;
  const std::vector<RunId> pruned{"20260101T000000-aaaaaaaa"};
  add_run(directory / "team.db", pruned.front());
  add_run(directory / "node.db", pruned.front());
  add_run(directory / "node.db", "20260101T000001-bbbbbbbb");
  prune_store(directory / "team.db", pruned, PruneWhat::kSpans);
  const MergeResult into_pruned = merge_stores(directory / "team.db", list({directory / "node.db"}));
  EXPECT_EQ(into_pruned.unchanged, pruned);
  EXPECT_EQ(into_pruned.added.size(), 1u);
  EXPECT_TRUE(RunStore::open(directory / "team.db", OpenMode::kReadOnly).spans(pruned.front(), 1).empty());
  EXPECT_EQ(merge_stores(directory / "node.db", list({directory / "team.db"})).unchanged.size(), 2u);
  EXPECT_FALSE(RunStore::open(directory / "node.db", OpenMode::kReadOnly).spans(pruned.front(), 1).empty());
}

TEST(MergeStores, MissingAndForeignSourcesAndItself) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  std::ofstream(directory / "text.db") << std::string(5000, 'x');
  EXPECT_ERROR(ErrorCode::kBadInput, "nowhere.db",
               merge_stores(directory / "new.db", list({directory / "nowhere.db"})));
  EXPECT_ERROR(ErrorCode::kBadInput, "text.db",
               merge_stores(directory / "new.db", list({directory / "text.db"})));
  EXPECT_ERROR(ErrorCode::kBadInput, "itself", merge_stores(directory / "a.db", list({directory / "a.db"})));
  EXPECT_FALSE(fs::exists(directory / "new.db"));
}

TEST(ExportRuns, TakesTheNamedRunsOnly) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  add_run(directory / "a.db", "20260101T000001-bbbbbbbb");
  export_runs(directory / "a.db", std::vector<RunId>{"20260101T000001-bbbbbbbb"}, directory / "out.db");
  EXPECT_EQ(ids_of(directory / "out.db"), std::vector<RunId>{"20260101T000001-bbbbbbbb"});
  export_runs(directory / "a.db", std::vector<RunId>{"x"}, directory / "other.db");
  EXPECT_TRUE(ids_of(directory / "other.db").empty()) << "deleted since it was chosen";
}

TEST(PruneStore, DeletesRunsOrTheirSpansAndShrinks) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  add_run(directory / "a.db", "20260101T000001-bbbbbbbb");
  const PruneResult spans =
      prune_store(directory / "a.db", std::vector<RunId>{"20260101T000000-aaaaaaaa"}, PruneWhat::kSpans);
  EXPECT_LT(spans.bytes_after, spans.bytes_before);
  {
    const RunStore store = RunStore::open(directory / "a.db", OpenMode::kReadOnly);
    EXPECT_TRUE(store.spans("20260101T000000-aaaaaaaa", 1).empty());
    EXPECT_EQ(store.steps("20260101T000000-aaaaaaaa").size(), 1u);
    EXPECT_FALSE(store.spans("20260101T000001-bbbbbbbb", 1).empty());
  }
  prune_store(directory / "a.db", std::vector<RunId>{"20260101T000000-aaaaaaaa"}, PruneWhat::kRuns);
  EXPECT_EQ(ids_of(directory / "a.db").size(), 1u);
  EXPECT_TRUE(check_store(directory / "a.db").problems.empty());
  EXPECT_ERROR(ErrorCode::kBadInput, "nowhere.db",
               prune_store(directory / "nowhere.db", std::vector<RunId>{}, PruneWhat::kRuns));
}

TEST(PruneStore, ARunThatIsNeededSinceItWasChosenIsKept) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "a.db";
  const RunId reference = "20260101T000000-aaaaaaaa";
  const RunId run = "20260101T000001-bbbbbbbb";
  add_run(file, reference);
  add_run(file, run);
  {
    RunStore store = RunStore::open(file, OpenMode::kReadWrite);
    RunRecord leaning = *store.run(run);
    leaning.baseline_id = reference;
    store.update_run(leaning);
  }
  const auto prune = [&](std::vector<RunId> ids) { return prune_store(file, ids, PruneWhat::kUnneededRuns); };
  EXPECT_EQ(prune({reference}).needed, 1u) << "by a run that stays";
  {
    RunStore store = RunStore::open(file, OpenMode::kReadWrite);
    store.add_baseline("main", run, std::vector<RunId>{run});
  }
  EXPECT_EQ(prune({reference, run}).needed, 2u) << "one by a named baseline, the other by the run that it keeps";
  EXPECT_EQ(ids_of(file).size(), 2u);
  {
    RunStore store = RunStore::open(file, OpenMode::kReadWrite);
    add_run(file, "20260101T000002-cccccccc");
    store.add_baseline("main", "c", std::vector<RunId>{"20260101T000002-cccccccc"});
  }
  EXPECT_EQ(prune({reference, run}).found, (std::vector<RunId>{reference, run}));
  EXPECT_EQ(ids_of(file), std::vector<RunId>{"20260101T000002-cccccccc"}) << "of an older version, and with the run that needed it";
}

TEST(PruneStore, LeavesOutWhatAnotherProcessHasDeleted) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  const std::vector<RunId> ids = {"20260101T000001-bbbbbbbb", "20260101T000000-aaaaaaaa"};
  const PruneResult result = prune_store(directory / "a.db", ids, PruneWhat::kRuns);
  EXPECT_EQ(result.found, std::vector<RunId>{"20260101T000000-aaaaaaaa"});
  EXPECT_TRUE(ids_of(directory / "a.db").empty());
}

TEST(PruneStore, KeepsTheRowsUntilWhatBelongsToThemIsGone) {
  const TemporaryDirectory directory;
  const std::vector<RunId> pruned = {"20260101T000000-aaaaaaaa"};
  add_run(directory / "a.db", pruned[0]);
  add_run(directory / "a.db", "20260101T000001-bbbbbbbb");
  PruneSteps steps;
  steps.before_commit = [&](std::span<const RunId> found, const RunsLeft& left) {
    EXPECT_EQ(std::vector<RunId>(found.begin(), found.end()), pruned);
    ASSERT_EQ(left.readable.size(), 1u);
    EXPECT_EQ(left.readable[0].id, "20260101T000001-bbbbbbbb");
    EXPECT_TRUE(left.all_are_readable);
    throw Error(ErrorCode::kEnvironment, "a folder stays");
  };
  EXPECT_ERROR(ErrorCode::kEnvironment, "a folder stays", prune_store(directory / "a.db", pruned, PruneWhat::kRuns, steps));
  EXPECT_EQ(ids_of(directory / "a.db").size(), 2u);
}

TEST(CheckStore, CountsAndFindsWhatIsWrong) {
  const TemporaryDirectory directory;
  add_run(directory / "a.db", "20260101T000000-aaaaaaaa");
  const CheckResult good = check_store(directory / "a.db");
  EXPECT_EQ(good.runs, 1);
  EXPECT_EQ(good.steps, 1);
  EXPECT_EQ(good.spans, kTraceSteps * 25);
  EXPECT_TRUE(good.problems.empty());

  const Database database(directory / "a.db", Access::kExisting);
  database.execute("UPDATE step SET idle_ns = idle_ns + 1");
  database.execute("UPDATE span_chunk SET chunk = x'00112233'");
  database.execute("UPDATE run SET case_json = '{'");
  const CheckResult bad = check_store(directory / "a.db");
  ASSERT_EQ(bad.problems.size(), 6u);
  EXPECT_TRUE(test::contains(bad.problems[0], "cannot be read"));
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(test::contains(bad.problems[i], "is damaged")) << bad.problems[i];
  EXPECT_TRUE(test::contains(bad.problems[4], "do not sum"));
  EXPECT_TRUE(test::contains(bad.problems[5], "chunk 0 of rank 1"));
}

TEST(CheckStore, ATruncatedStoreIsReportedNotFatal) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 5; ++i) add_run(directory / "a.db", "20260101T00000" + std::to_string(i) + "-aaaaaaaa");
  fs::resize_file(directory / "a.db", fs::file_size(directory / "a.db") / 2);
  fs::remove(directory / "a.db-wal");
  try {
    EXPECT_FALSE(check_store(directory / "a.db").problems.empty());
  } catch (const Error& error) {
    EXPECT_TRUE(test::contains(error.message(), "a.db")) << error.message();
  }
}

}  // namespace
}  // namespace ddbench::store
