#include <gtest/gtest.h>

#include <limits>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

using test::full_rank;
using test::full_run;
using test::full_step;
using test::plain_run;

class RoundTrip : public testing::Test {
 protected:
  RunStore reopened() const { return RunStore::open(file_, OpenMode::kReadOnly); }

  test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_ / "results.db";
  RunStore store_ = RunStore::open(file_, OpenMode::kReadWrite);
};

TEST_F(RoundTrip, EmptyStoreHoldsNothing) {
  EXPECT_TRUE(store_.runs().empty());
  EXPECT_FALSE(store_.run("x"));
  EXPECT_TRUE(reopened().runs().empty());
  EXPECT_EQ(store_.file(), file_);
}

TEST_F(RoundTrip, RunKeepsEveryField) {
  const RunRecord run = full_run("20261121T001905-3f9a1c2b");
  store_.create_run(run);
  test::expect_same(store_.run(run.id).value(), run);
  test::expect_same(reopened().runs().at(0), run);
}

TEST_F(RoundTrip, RunWithDefaultsKeepsThem) {
  store_.create_run(plain_run("a"));
  test::expect_same(store_.run("a").value(), plain_run("a"));
}

TEST_F(RoundTrip, UpdateReplacesEveryFieldButTheId) {
  store_.create_run(plain_run("a"));
  store_.create_run(plain_run("b"));
  store_.update_run(full_run("a"));
  test::expect_same(store_.run("a").value(), full_run("a"));
  test::expect_same(store_.run("b").value(), plain_run("b"));
}

TEST_F(RoundTrip, HostileTextIsANameLikeAnyOther) {
  RunRecord run = full_run("a");
  run.run_case.name = test::kHostileText;
  store_.create_run(run);
  test::expect_same(store_.find(test::kHostileText), run);
}

TEST_F(RoundTrip, TextOutsideOfUtf8IsKeptOrReplacedNeverRefused) {
  RunRecord run = plain_run("a");
  run.reason = "\xFF\xFE";
  run.run_case.name = "\xFFname";
  run.environment.facts = {{"cpu", "\xC3"}};
  store_.create_run(run);
  EXPECT_EQ(store_.run("a")->reason, run.reason);
  EXPECT_EQ(store_.run("a")->run_case.name, "\xEF\xBF\xBDname");
  EXPECT_EQ(store_.run("a")->environment.facts.at("cpu"), "\xEF\xBF\xBD");
}

TEST_F(RoundTrip, CaseThatCannotBeReadBackIsRefused) {
  RunRecord run = plain_run("a");
  run.run_case.lr = std::numeric_limits<double>::quiet_NaN();
  EXPECT_ERROR(ErrorCode::kBadInput, "run case", store_.create_run(run));
  EXPECT_TRUE(store_.runs().empty());
}

TEST_F(RoundTrip, RunsAreCountedAsTheyAreSelected) {
  for (int i = 0; i < 3; ++i) {
    RunRecord run = plain_run(std::string(1, static_cast<char>('a' + i)));
    run.run_case.name = i == 0 ? "other" : "nightly";
    store_.create_run(run);
  }
  EXPECT_EQ(store_.count({}), 3);
  EXPECT_EQ(store_.count({.name = "nightly", .limit = 1}), 2) << "the limit is of the list";
  EXPECT_EQ(store_.count({.name = "x' OR '1'='1"}), 0);
}

TEST_F(RoundTrip, IdsMustBeGivenAndNew) {
  store_.create_run(plain_run("a"));
  EXPECT_ERROR(ErrorCode::kBadInput, "already holds a run \"a\"", store_.create_run(full_run("a")));
  EXPECT_ERROR(ErrorCode::kBadInput, "not a run id", store_.create_run(plain_run("")));
  test::expect_same(store_.run("a").value(), plain_run("a"));
}

TEST_F(RoundTrip, UnknownRunIsNamedByEveryMethod) {
  const auto refuses = [](auto&& action) { EXPECT_ERROR(ErrorCode::kBadInput, "no run \"nope\"", action()); };
  refuses([&] { store_.update_run(plain_run("nope")); });
  refuses([&] { store_.put_ranks("nope", {}); });
  refuses([&] { store_.put_steps("nope", {}); });
  refuses([&] { store_.put_collectives("nope", {}); });
  refuses([&] { store_.put_kernels("nope", {}); });
  refuses([&] { store_.append_spans("nope", 0, {}, {}); });
  refuses([&] { store_.append_step_values("nope", 0, "loss", {}); });
  refuses([&] { store_.ranks("nope"); });
  refuses([&] { store_.steps("nope"); });
  refuses([&] { store_.collectives("nope"); });
  refuses([&] { store_.kernels("nope"); });
  refuses([&] { store_.spans("nope", 0); });
  refuses([&] { store_.spans("nope", 0, 0, 1); });
  refuses([&] { store_.span_names("nope", 0); });
  refuses([&] { store_.step_values("nope", 0, "loss"); });
}

TEST_F(RoundTrip, RanksAreReplacedOneByOne) {
  store_.create_run(plain_run("a"));
  store_.put_ranks("a", std::vector{full_rank(1), full_rank(0)});
  RankRecord changed = full_rank(1);
  changed.outcome = "ok";
  store_.put_ranks("a", std::vector{changed});
  const std::vector<RankRecord> ranks = store_.ranks("a");
  ASSERT_EQ(ranks.size(), 2u);
  test::expect_same(ranks[0], full_rank(0));
  test::expect_same(ranks[1], changed);
}

TEST_F(RoundTrip, StepsComeOrderedAndAreReplacedOneByOne) {
  store_.create_run(plain_run("a"));
  StepRecord unknown_loss = full_step(0, 7);
  unknown_loss.loss = std::numeric_limits<double>::quiet_NaN();
  StepRecord infinite_loss = full_step(1, 7);
  infinite_loss.loss = std::numeric_limits<double>::infinity();
  store_.put_steps("a", std::vector{infinite_loss, full_step(0, 8), full_step(0, 7)});
  store_.put_steps("a", std::vector{unknown_loss});
  const std::vector<StepRecord> steps = store_.steps("a");
  ASSERT_EQ(steps.size(), 3u);
  test::expect_same(steps[0], unknown_loss);
  test::expect_same(steps[1], infinite_loss);
  test::expect_same(steps[2], full_step(0, 8));
}

TEST_F(RoundTrip, CollectivesAndKernelsAreReplacedAsAWhole) {
  store_.create_run(plain_run("a"));
  const CollectiveRecord collective{"all_reduce",      2, ~std::uint64_t{0}, 3, 4, 5, 6, false,
                                    test::kHostileText};
  store_.put_collectives("a", std::vector{CollectiveRecord{}, collective});
  store_.put_collectives("a",
                         std::vector{collective, CollectiveRecord{"broadcast", -1, 1, 1, 1, 1, 1, true}});
  const auto collectives = store_.collectives("a");
  ASSERT_EQ(collectives.size(), 2u);
  EXPECT_EQ(collectives[0].function, collective.function);
  EXPECT_EQ(collectives[0].bucket, collective.bucket);
  EXPECT_EQ(collectives[0].bytes, collective.bytes);
  EXPECT_EQ(collectives[0].count, collective.count);
  EXPECT_EQ(collectives[0].transfer_ns, collective.transfer_ns);
  EXPECT_EQ(collectives[0].duration_ns, collective.duration_ns);
  EXPECT_EQ(collectives[0].peer_wait_ns, collective.peer_wait_ns);
  EXPECT_FALSE(collectives[0].peer_wait_resolved);
  EXPECT_EQ(collectives[0].nccl_algorithm, collective.nccl_algorithm);
  EXPECT_EQ(collectives[1].function, "broadcast");
  EXPECT_TRUE(collectives[1].peer_wait_resolved);
  EXPECT_EQ(collectives[1].nccl_algorithm, "");

  store_.put_kernels("a", std::vector{KernelRecord{"old", "copy", 1, 1, 1}});
  store_.put_kernels("a", std::vector{KernelRecord{test::kHostileText, "forward", 2, 3, 4}});
  const auto kernels = store_.kernels("a");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, test::kHostileText);
  EXPECT_EQ(kernels[0].kind, "forward");
  EXPECT_EQ(kernels[0].count, 2u);
  EXPECT_EQ(kernels[0].total_ns, 3);
  EXPECT_EQ(kernels[0].max_ns, 4);
}

TEST_F(RoundTrip, StepValuesComeOrderedByStep) {
  store_.create_run(plain_run("a"));
  using Values = std::vector<std::pair<std::uint32_t, double>>;
  store_.append_step_values("a", 1, "loss", Values{{kNoStep, 3.0}, {2, 0.5}});
  store_.append_step_values("a", 1, "loss", Values{{1, 0.7}, {2, 0.6}});
  store_.append_step_values("a", 1, "gradient", Values{{1, -1.0}});
  store_.append_step_values("a", 0, "loss", Values{{0, std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_EQ(store_.step_values("a", 1, "loss"), (Values{{1, 0.7}, {2, 0.6}, {kNoStep, 3.0}}));
  EXPECT_EQ(store_.step_values("a", 1, "gradient"), (Values{{1, -1.0}}));
  ASSERT_EQ(store_.step_values("a", 0, "loss").size(), 1u);
  EXPECT_TRUE(std::isnan(store_.step_values("a", 0, "loss")[0].second));
  EXPECT_TRUE(store_.step_values("a", 2, "loss").empty());
}

TEST_F(RoundTrip, DeletingARunTakesAllThatHangsOnItAndNothingElse) {
  for (const char* id : {"a", "b"}) {
    store_.create_run(plain_run(id));
    store_.put_ranks(id, std::vector{full_rank(0)});
    store_.put_steps(id, std::vector{full_step(0, 0)});
    store_.put_kernels(id, std::vector{KernelRecord{"k", "copy", 1, 1, 1}});
    store_.put_collectives(id, std::vector{CollectiveRecord{"c", 0, 1, 1, 1, 1, 1, true}});
    store_.append_spans(id, 0, std::vector{Span{}}, std::vector<std::string>{"name"});
    store_.append_step_values(id, 0, "loss", std::vector<std::pair<std::uint32_t, double>>{{0, 1.0}});
  }
  prune_store(store_.file(), std::vector<RunId>{"a"}, PruneWhat::kRuns);
  store_.create_run(plain_run("a"));
  EXPECT_TRUE(store_.ranks("a").empty());
  EXPECT_TRUE(store_.steps("a").empty());
  EXPECT_TRUE(store_.kernels("a").empty());
  EXPECT_TRUE(store_.collectives("a").empty());
  EXPECT_TRUE(store_.spans("a", 0).empty());
  EXPECT_TRUE(store_.span_names("a", 0).empty());
  EXPECT_TRUE(store_.step_values("a", 0, "loss").empty());
  EXPECT_EQ(store_.ranks("b").size(), 1u);
  EXPECT_EQ(store_.spans("b", 0).size(), 1u);
  EXPECT_EQ(store_.step_values("b", 0, "loss").size(), 1u);
}

}  // namespace
}  // namespace ddbench::store
