#include <gtest/gtest.h>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_id.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

constexpr const char* kNoIds[] = {"",        ".",   "..",  "../../home/thesis", "a/b", "/etc",
                                  ".hidden", "-rf", "a b", "a\x1b[2J",          "a\n", "a\xff",
                                  "r.1"};

TEST(RunIds, AreOneComponentOfAPath) {
  EXPECT_TRUE(is_run_id(new_run_id()));
  EXPECT_TRUE(is_run_id("20261121T001905-3f9a1c2b"));
  EXPECT_TRUE(is_run_id(std::string(64, 'x')));
  EXPECT_FALSE(is_run_id(std::string(65, 'x')));
  EXPECT_FALSE(is_run_id(std::string("a\0b", 3)));
  for (const char* text : kNoIds) EXPECT_FALSE(is_run_id(text)) << text;
}

class ForeignId : public testing::TestWithParam<const char*> {
 protected:
  ForeignId() {
    RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("good"));
    const Database database(file_, Access::kExisting);
    database.prepare("UPDATE run SET id = ?").bind(std::string(GetParam())).run();
  }
  test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_ / "foreign.db";
};

TEST_P(ForeignId, IsNotRead) {
  RunStore store = RunStore::open(file_, OpenMode::kReadOnly);
  std::string reason;
  store.on_unreadable([&](const UnreadableRun& run) { reason = run.reason; });
  EXPECT_FALSE(store.run(GetParam()));
  EXPECT_TRUE(store.runs().empty());
  EXPECT_TRUE(test::contains(reason, "is not a run id")) << reason;
}

TEST_P(ForeignId, IsNotMerged) {
  const std::vector<std::filesystem::path> sources{file_};
  EXPECT_ERROR(ErrorCode::kBadInput, "foreign.db", merge_stores(directory_ / "target.db", sources));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "target.db"));
}

TEST_P(ForeignId, IsAProblemOfTheStore) {
  const CheckResult result = check_store(file_);
  const bool named = std::any_of(
      result.problems.begin(), result.problems.end(),
      [](const std::string& problem) { return problem.find("is not a run id") != std::string::npos; });
  EXPECT_TRUE(named);
}

TEST_P(ForeignId, IsNotStored) {
  RunStore store = RunStore::open(directory_ / "own.db", OpenMode::kReadWrite);
  EXPECT_ERROR(ErrorCode::kBadInput, "is not a run id", store.create_run(test::plain_run(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(RunIds, ForeignId, testing::ValuesIn(kNoIds));

}  // namespace
}  // namespace ddbench::store
