#include <gtest/gtest.h>

#include <set>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

using test::plain_run;

class Find : public testing::Test {
 protected:
  void add(const std::string& id, std::int64_t started_wall_ns, const std::string& name = "") {
    RunRecord run = plain_run(id, started_wall_ns);
    run.run_case.name = name;
    store_.create_run(run);
  }
  std::vector<RunId> ids(const Query& query = {}) const {
    std::vector<RunId> ids;
    for (const RunRecord& run : store_.runs(query)) ids.push_back(run.id);
    return ids;
  }

  test::TemporaryDirectory directory_;
  RunStore store_ = RunStore::open(directory_ / "results.db", OpenMode::kReadWrite);
};

// Also after a clock was set back.
TEST_F(Find, LastIsTheOneStoredLastThatIsNoBaseline) {
  add("20260101T000000-aaaa", 10);
  add("20260103T000000-bbbb", 30);
  add("20260102T000000-cccc", 20);
  RunRecord baseline = plain_run("20260104T000000-dddd", 40);
  baseline.is_baseline = true;
  store_.create_run(baseline);
  EXPECT_EQ(store_.find("last").id, "20260102T000000-cccc");
}

TEST_F(Find, LastOfRunsThatBeganTogetherIsTheOneCreatedLast) {
  add("b", 10);
  add("a", 10);
  EXPECT_EQ(store_.find("last").id, "a");
  EXPECT_EQ(ids(), (std::vector<RunId>{"a", "b"}));
}

TEST_F(Find, TakesIdPrefixSuffixAndName) {
  add("20260101T000000-aaaa", 10, "night");
  add("20260102T000000-bbbb", 20, "night");
  add("20260203T000000-cccc", 30, "bbbb");
  EXPECT_EQ(store_.find("20260101T000000-aaaa").id, "20260101T000000-aaaa");
  EXPECT_EQ(store_.find("20260101").id, "20260101T000000-aaaa");
  EXPECT_EQ(store_.find("aaaa").id, "20260101T000000-aaaa");
  EXPECT_EQ(store_.find("night").id, "20260102T000000-bbbb") << "of one name the newest";
  EXPECT_EQ(store_.find("bbbb").id, "20260203T000000-cccc") << "a name comes before a part of an id";
}

TEST_F(Find, AmbiguousReferenceListsWhatFits) {
  add("20260101T000000-aaaa", 10);
  add("20260102T000000-bbbb", 20, "named");
  add("20270101T000000-cccc", 30);
  const std::string message = test::message_of(ErrorCode::kBadInput, [&] { store_.find("2026"); });
  EXPECT_TRUE(test::contains(message, "fits 2 runs")) << message;
  EXPECT_TRUE(test::contains(message, "20260101T000000-aaaa")) << message;
  EXPECT_TRUE(test::contains(message, "20260102T000000-bbbb (mlp, 1 x 1 GPUs, running, \"named\")"))
      << message;
  EXPECT_FALSE(test::contains(message, "20270101")) << message;
}

TEST_F(Find, WildcardsAreLettersAndCaseMatters) {
  add("20260101T000000-aaaa", 10);
  for (const char* reference : {"%", "_", "*", "AAAA", "2026_", "", "0101"}) {
    EXPECT_ERROR(ErrorCode::kBadInput, "20260101T000000-aaaa", store_.find(reference));
  }
}

TEST_F(Find, NothingFoundListsTheNewest) {
  EXPECT_ERROR(ErrorCode::kBadInput, "is empty", store_.find("last"));
  EXPECT_ERROR(ErrorCode::kBadInput, "is empty", store_.find("x"));
  for (int run = 0; run < 9; ++run) add("run" + std::to_string(run), run);
  const std::string message = test::message_of(ErrorCode::kBadInput, [&] { store_.find("x"); });
  EXPECT_TRUE(test::contains(message, "no run \"x\"")) << message;
  EXPECT_TRUE(test::contains(message, "run8")) << message;
  EXPECT_TRUE(test::contains(message, "run4")) << message;
  EXPECT_FALSE(test::contains(message, "run3")) << message;
}

TEST_F(Find, LastAmongBaselinesOnlyIsNone) {
  RunRecord baseline = plain_run("base", 40);
  baseline.is_baseline = true;
  store_.create_run(baseline);
  EXPECT_ERROR(ErrorCode::kBadInput, "no last run", store_.find("last"));
}

TEST_F(Find, QueriesCombine) {
  for (int index = 0; index < 16; ++index) {
    RunRecord run = plain_run("run" + std::to_string(index), index);
    if (index & 1) run.sweep_id = "sweep'";
    if (index & 2) run.run_case.name = "name";
    if (index & 4) run.state = RunState::kDone;
    run.run_case.nodes = index & 8 ? 2 : 1;
    run.environment.fingerprint = index & 8 ? "new" : "old";
    store_.create_run(run);
  }
  EXPECT_EQ(ids().size(), 16u);
  EXPECT_EQ(ids({.limit = 2}), (std::vector<RunId>{"run15", "run14"}));
  EXPECT_EQ(ids({.sweep_id = "sweep'"}).size(), 8u);
  EXPECT_EQ(ids({.sweep_id = "sweep'", .name = "name"}),
            (std::vector<RunId>{"run15", "run11", "run7", "run3"}));
  EXPECT_EQ(ids({.name = "name", .state = RunState::kDone, .fingerprint = "old"}),
            (std::vector<RunId>{"run7", "run6"}));
  RunCase two_nodes;
  two_nodes.nodes = 2;
  two_nodes.name = "a name defines nothing";
  EXPECT_EQ(ids({.state = RunState::kRunning, .case_key = case_key(two_nodes)}),
            (std::vector<RunId>{"run11", "run10", "run9", "run8"}));
  EXPECT_TRUE(ids({.sweep_id = "other"}).empty());
}

TEST(RunIdTest, NewIdsSortByTimeAndDiffer) {
  const RunId id = new_run_id();
  ASSERT_EQ(id.size(), 24u) << id;
  EXPECT_EQ(id[8], 'T');
  EXPECT_EQ(id[15], '-');
  EXPECT_EQ(id.substr(0, 2), "20");
  EXPECT_EQ(id.find_first_not_of("0123456789abcdefT-"), std::string::npos) << id;
  std::set<RunId> ids;
  for (int count = 0; count < 100; ++count) ids.insert(new_run_id());
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_LE(id.substr(0, 15), ids.begin()->substr(0, 15));
}

TEST(RecordNames, StatesAndPartsHaveTheirWords) {
  for (const RunState state : {RunState::kRunning, RunState::kDone, RunState::kFailed, RunState::kInterrupted,
                               RunState::kPreempted}) {
    EXPECT_EQ(run_state_from(to_string(state)), state);
  }
  EXPECT_ERROR(ErrorCode::kBadInput, "finished", run_state_from("finished"));
  EXPECT_EQ(to_string(StepPart::kForward), "forward");
  EXPECT_EQ(to_string(StepPart::kExposedTransfer), "exposed_transfer");
  EXPECT_EQ(to_string(StepPart::kIdle), "idle");
}

/// Three runs, of which the newest has a row that cannot be read.
class UnreadableRow : public Find {
 protected:
  UnreadableRow() {
    add("20260101T000000-aaaa", 10, "night");
    add("20260102T000000-bbbb", 20, "night");
    add("20260103T000000-cccc", 30, "night");
    Database(directory_ / "results.db", Access::kExisting)
        .execute("UPDATE run SET case_json = '{' WHERE id LIKE '%cccc'");
    store_.on_unreadable([this](const UnreadableRun& run) { left_out_.push_back(run); });
  }

  std::vector<UnreadableRun> left_out_;
};

TEST_F(UnreadableRow, IsLeftOutOfListsAndNamedOnce) {
  EXPECT_EQ(ids(), (std::vector<RunId>{"20260102T000000-bbbb", "20260101T000000-aaaa"}));
  EXPECT_EQ(ids({.limit = 1}), std::vector<RunId>{"20260102T000000-bbbb"}) << "it does not use up the limit";
  EXPECT_EQ(store_.find("last").id, "20260102T000000-bbbb");
  EXPECT_EQ(store_.find("night").id, "20260102T000000-bbbb");
  EXPECT_FALSE(store_.run("20260103T000000-cccc"));
  ASSERT_EQ(left_out_.size(), 1u);
  EXPECT_EQ(left_out_[0].id, "20260103T000000-cccc");
  EXPECT_TRUE(test::contains(left_out_[0].reason, "run case")) << left_out_[0].reason;
}

TEST_F(UnreadableRow, IsAnErrorWhenItsIdIsGiven) {
  for (const char* reference : {"20260103T000000-cccc", "cccc", "20260103"})
    EXPECT_ERROR(ErrorCode::kRunFailed, "cannot be read", store_.find(reference));
}

TEST_F(UnreadableRow, IsFoundByItsIdWithoutReadingIt) {
  EXPECT_EQ(store_.find_id("cccc"), "20260103T000000-cccc");
  EXPECT_EQ(store_.find_id("20260103T000000-cccc"), "20260103T000000-cccc");
  EXPECT_ERROR(ErrorCode::kBadInput, "fits 3 runs", store_.find_id("2026"));
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no run \"night\"", store_.find_id("night"));
}

}  // namespace
}  // namespace ddbench::store
