// Many runs at once: written as one transaction, read in a few queries.
#include <gtest/gtest.h>

#include <limits>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/rows/run_texts.h"
#include "analyzer/store/sqlite/database.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

class BatchTest : public testing::Test {
 protected:
  void add(const std::string& id, int steps) {
    store_.create_run(test::plain_run(id));
    store_.put_ranks(id, std::vector{test::full_rank(1), test::full_rank(0)});
    std::vector<StepRecord> records;
    for (int step = steps; step-- > 0;)
      records.push_back(test::full_step(0, static_cast<std::uint32_t>(step)));
    store_.put_steps(id, records);
    store_.put_collectives(id,
                           std::vector<CollectiveRecord>{{"all_reduce", steps, 1024, 7, 100, 120, 20, true}});
    store_.put_kernels(id, std::vector<KernelRecord>{{id, "forward", 4, 400, 120}});
  }
  std::size_t runs_for_others() const { return RunStore::open(file_, OpenMode::kReadOnly).runs().size(); }

  test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_ / "results.db";
  RunStore store_ = RunStore::open(file_, OpenMode::kReadWrite);
};

TEST_F(BatchTest, NothingHappensWithoutCommit) {
  add("a", 1);
  {
    const Batch batch(store_);
    add("b", 2);
    EXPECT_EQ(store_.runs().size(), 2u);
    EXPECT_EQ(runs_for_others(), 1u);
  }
  EXPECT_EQ(store_.runs().size(), 1u);
  add("c", 1);
  EXPECT_EQ(runs_for_others(), 2u) << "the store is used as before";
}

TEST_F(BatchTest, ARunThatWasTakenBackIsUnknown) {
  {
    const Batch batch(store_);
    add("b", 2);
  }
  EXPECT_ERROR(ErrorCode::kBadInput, "no run \"b\"", store_.put_steps("b", std::vector{test::full_step(0, 1)}));
  add("c", 1);
  EXPECT_EQ(store_.steps("c").size(), 1u);
  EXPECT_TRUE(check_store(file_).problems.empty());
}

TEST_F(BatchTest, ANewRunsRanksAreReplacedToo) {
  Batch batch(store_);
  store_.create_run(test::plain_run("a"));
  RankRecord rank = test::full_rank(0);
  rank.clock.between = {{10, 1, 1}, {20, 1, 1}, {30, 1, 1}};
  store_.put_ranks("a", std::vector{rank});
  rank.clock.between = {{40, 2, 2}};
  store_.put_ranks("a", std::vector{rank});
  batch.commit();
  const std::vector<ClockReading> readings = store_.ranks("a").at(0).clock.between;
  ASSERT_EQ(readings.size(), 1u);
  EXPECT_EQ(readings[0].at_ns, 40);
  EXPECT_TRUE(check_store(file_).problems.empty());
}

TEST_F(BatchTest, ANewRunsStepIsReplacedToo) {
  Batch batch(store_);
  store_.create_run(test::plain_run("a"));
  StepRecord step = test::full_step(0, 1);
  for (const std::int64_t duration_ns : {100, 200, 300}) {
    step.duration_ns = duration_ns;
    store_.put_steps("a", std::vector{step});
  }
  batch.commit();
  const std::vector<StepRecord> steps = store_.steps("a");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].duration_ns, 300);
  EXPECT_TRUE(check_store(file_).problems.empty());
}

TEST_F(BatchTest, EverythingHappensWithIt) {
  Batch batch(store_);
  add("a", 1);
  add("b", 2);
  EXPECT_EQ(runs_for_others(), 0u);
  batch.commit();
  EXPECT_EQ(runs_for_others(), 2u);
}

TEST_F(BatchTest, AnErrorInsideLeavesTheRestToTheBatch) {
  Batch batch(store_);
  add("a", 1);
  EXPECT_ERROR(ErrorCode::kBadInput, "already holds", store_.create_run(test::plain_run("a")));
  EXPECT_ERROR(ErrorCode::kBadInput, "no run \"x\"", store_.put_steps("x", {}));
  batch.commit();
  EXPECT_EQ(runs_for_others(), 1u);
}

TEST_F(BatchTest, RowsOfManyRunsAreThoseOfEach) {
  for (int run = 0; run < 9; ++run) add("run" + std::to_string(run), run);
  const std::vector<std::vector<RunId>> choices = {
      {"run3", "run0", "run8", "run4", "run2", "run1"}, {"run8", "run0"}, {"run5"}, {}};
  for (const std::vector<RunId>& ids : choices) {
    const std::vector<RunRows> rows = store_.rows(ids);
    ASSERT_EQ(rows.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::vector<RankRecord> ranks = store_.ranks(ids[i]);
      const std::vector<StepRecord> steps = store_.steps(ids[i]);
      ASSERT_EQ(rows[i].ranks.size(), ranks.size());
      for (std::size_t r = 0; r < ranks.size(); ++r) test::expect_same(rows[i].ranks[r], ranks[r]);
      ASSERT_EQ(rows[i].steps.size(), steps.size());
      for (std::size_t s = 0; s < steps.size(); ++s) test::expect_same(rows[i].steps[s], steps[s]);
      ASSERT_EQ(rows[i].collectives.size(), 1u);
      EXPECT_EQ(rows[i].collectives[0].bucket, store_.collectives(ids[i]).at(0).bucket);
      ASSERT_EQ(rows[i].kernels.size(), 1u);
      EXPECT_EQ(rows[i].kernels[0].name, ids[i]);
    }
  }
  EXPECT_ERROR(ErrorCode::kBadInput, "no run \"x\"", store_.rows(std::vector<RunId>{"run1", "x"}));
}

/// Runs with all that add_runs stores, and what they refer to.
struct CompleteRuns {
  CompleteRuns(int first, int count) {
    records.reserve(static_cast<std::size_t>(count));
    texts.reserve(static_cast<std::size_t>(count));
    CaseCache cases;
    for (int run = first; run < first + count; ++run) {
      records.push_back(test::full_run("run" + std::to_string(run)));
      records.back().run_case.name = test::kHostileText + std::to_string(run % 3);
      texts.emplace_back(records.back(), cases);
      const auto many = static_cast<std::size_t>(run % 20);
      complete.push_back({records.back(), texts.back(), std::span(ranks).first(many), std::span(steps).first(many),
                          std::span(collectives).first(many % 2)});
    }
  }

  std::vector<RankRecord> ranks = [] {
    std::vector<RankRecord> all;
    for (int rank = 0; rank < 20; ++rank) {
      all.push_back(test::full_rank(rank));
      for (int reading = 0; reading < rank; ++reading) all.back().clock.between.push_back({reading, rank, 1});
    }
    return all;
  }();
  std::vector<StepRecord> steps = [] {
    std::vector<StepRecord> all;
    for (std::uint32_t step = 0; step < 20; ++step) all.push_back(test::full_step(static_cast<int>(step % 2), step));
    all[3].loss = std::numeric_limits<double>::quiet_NaN();
    all[4].loss = -0.0;
    return all;
  }();
  std::vector<CollectiveRecord> collectives{{"all_reduce", 3, 1024, 7, 100, 120, 20, true}};
  std::vector<RunRecord> records;
  std::vector<RunTexts> texts;
  std::vector<CompleteRun> complete;
};

TEST_F(BatchTest, CompleteRunsAreStoredAsOneByOne) {
  add("before", 2);
  const CompleteRuns runs(0, 45);  // sixteen with a statement, and the rest
  store_.add_runs(runs.complete);
  store_.add_runs({});
  add("after", 2);
  EXPECT_TRUE(check_store(file_).problems.empty());
  ASSERT_EQ(store_.runs().size(), 47u);
  for (const CompleteRun& complete : runs.complete) {
    const RunId& id = complete.run.id;
    test::expect_same(store_.run(id).value(), complete.run);
    const std::vector<RankRecord> ranks = store_.ranks(id);
    ASSERT_EQ(ranks.size(), complete.ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) test::expect_same(ranks[i], complete.ranks[i]);
    const std::vector<StepRecord> steps = store_.steps(id);
    ASSERT_EQ(steps.size(), complete.steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) test::expect_same(steps[i], complete.steps[i]);
    EXPECT_EQ(store_.collectives(id).size(), complete.collectives.size());
  }
}

TEST_F(BatchTest, OfCompleteRunsWithAnIdThatIsTakenNoneIsStored) {
  for (const int taken : {0, 14, 15, 16, 31, 44}) {
    store_.create_run(test::plain_run("run" + std::to_string(taken)));
    const CompleteRuns runs(0, 45);
    EXPECT_ERROR(ErrorCode::kBadInput, "already holds", store_.add_runs(runs.complete));
    EXPECT_EQ(store_.runs().size(), 1u);
    Database(file_, Access::kExisting).execute("DELETE FROM run");
  }
  const CompleteRuns runs(0, 20);
  std::vector<CompleteRun> twice = runs.complete;
  twice.push_back(runs.complete[3]);
  EXPECT_ERROR(ErrorCode::kBadInput, "already holds", store_.add_runs(twice));
  EXPECT_TRUE(store_.runs().empty());
  EXPECT_TRUE(check_store(file_).problems.empty());
}

TEST_F(BatchTest, RunsWithoutANumberAreRefused) {
  add("a", 1);
  // 9223372036854775807 is the last number.
  Database(file_, Access::kExisting).execute("UPDATE run SET run_key = 9223372036854775787 WHERE id = 'a'");
  const CompleteRuns runs(0, 20);
  EXPECT_ERROR(ErrorCode::kRunFailed, "no numbers for more runs", store_.add_runs(runs.complete));
  EXPECT_EQ(store_.runs().size(), 1u);
  store_.add_runs(CompleteRuns(0, 19).complete);
  EXPECT_EQ(store_.runs().size(), 20u);
  EXPECT_ERROR(ErrorCode::kRunFailed, "no numbers for more runs", store_.create_run(test::plain_run("b")));
}

TEST_F(BatchTest, DeletedSpansCanBeStoredAnew) {
  const std::vector<Span> spans = {Span{.begin_ns = 42, .end_ns = 43}};
  add("a", 3);
  store_.append_spans("a", 0, spans, std::vector<std::string>{"one"});
  store_.delete_spans("a");
  EXPECT_TRUE(store_.spans("a", 0).empty());
  EXPECT_EQ(store_.steps("a").size(), 3u);
  store_.append_spans("a", 0, spans, std::vector<std::string>{"two"});
  EXPECT_EQ(store_.span_names("a", 0), std::vector<std::string>{"two"});
}

// A statement compiled once serves users one after another, and concurrent users.
TEST_F(BatchTest, StatementsOfOneTextDoNotDisturbEachOther) {
  for (const char* id : {"a", "b", "c"}) add(id, 1);
  const Database database(file_, Access::kExisting);
  constexpr const char* kSql = "SELECT id FROM run WHERE id >= ? ORDER BY id";
  { Statement(database, kSql).bind("b").step(); }
  Statement outer = database.prepare(kSql);
  std::string seen;
  outer.bind("a");
  while (outer.step()) {
    Statement inner = database.prepare(kSql);
    inner.bind("b");
    while (inner.step()) {
      std::string id;
      inner.read(id);
      seen += id;
    }
    seen += ";";
  }
  EXPECT_EQ(seen, "bc;bc;bc;");
  EXPECT_FALSE(database.prepare(kSql).step()) << "bindings of before are gone";
}

}  // namespace
}  // namespace ddbench::store
