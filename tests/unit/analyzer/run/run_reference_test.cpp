#include "analyzer/run/run_reference.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "analyzer/store/maintenance/maintenance.h"
#include "core/error.h"
#include "sample_runs.h"

namespace ddbench::analyzer {
namespace {

namespace fs = std::filesystem;

class RunReference : public testing::Test {
 protected:
  ~RunReference() override { fs::remove_all(directory_); }

  store::RunRecord add(const std::string& id, const std::string& name, int minute = 0) {
    store::RunRecord run = test::sample_run(id, test::kDay_ns + minute * test::kMinute_ns, 10).run;
    run.run_case.name = name;
    store_.create_run(run);
    return run;
  }
  std::vector<std::string> ids(const std::string& reference) const {
    std::vector<std::string> found;
    for (const store::RunRecord& run : resolve_reference(store_, reference).runs) found.push_back(run.id);
    return found;
  }
  std::string complaint(const std::string& reference) const {
    try {
      resolve_reference(store_, reference);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      return error.message();
    }
    return "accepted";
  }

  fs::path directory_ = fs::temp_directory_path() / ("run_reference." + std::to_string(::getpid()));
  store::RunStore store_ = store::RunStore::open(directory_ / "r.db", store::OpenMode::kReadWrite);
};

using Ids = std::vector<std::string>;

TEST_F(RunReference, AConditionMatchesItsRunsOldestFirst) {
  add("20260101T000000-bbbbbbbb", "main", 5);
  add("20260101T000000-aaaaaaaa", "main", 1);
  add("20260101T000000-cccccccc", "pr", 3);
  EXPECT_EQ(ids("name=main"), (Ids{"20260101T000000-aaaaaaaa", "20260101T000000-bbbbbbbb"}));
  EXPECT_EQ(ids("name=main,nodes=2"), ids("name=main"));
  EXPECT_TRUE(ids("name=main,nodes=3").empty());
  EXPECT_EQ(ids("lr=5e-2,batch_per_gpu=64,scaling=weak").size(), 3u);
  EXPECT_EQ(ids("state=done,valid=true,network=veth,fingerprint=aaaa").size(), 3u);
  EXPECT_TRUE(ids("link=1gbit").empty());
  EXPECT_EQ(ids("link=").size(), 3u);
  EXPECT_FALSE(resolve_reference(store_, "name=none").missing.empty());
}

TEST_F(RunReference, TagsAndWorkloadOptionsAreFields) {
  store::RunRecord run = add("20260101T000000-aaaaaaaa", "a,b");
  run.run_case.tags = {{"team", "vision"}, {"x.y", "z=1"}};
  std::get<ReferenceWorkload>(run.run_case.work).options = {{"hidden", "512,512"}};
  store_.update_run(run);
  EXPECT_EQ(ids("tags.team=vision").size(), 1u);
  EXPECT_EQ(ids("tags.x.y=z=1").size(), 1u);
  EXPECT_EQ(ids(R"(workload_options.hidden=512\,512,name=a\,b)").size(), 1u);
  EXPECT_TRUE(ids("tags.team=sound").empty());
  EXPECT_TRUE(ids("tags.other=").empty());
}

TEST_F(RunReference, RunsThatAreOnlyBaselinesAreLeftOut) {
  add("20260101T000000-aaaaaaaa", "main");
  store::RunRecord helper = add("20260101T000000-bbbbbbbb", "main");
  helper.is_baseline = true;
  store_.update_run(helper);
  EXPECT_EQ(ids("name=main"), Ids{"20260101T000000-aaaaaaaa"});
  EXPECT_EQ(ids("name=main,is_baseline=true"), Ids{"20260101T000000-bbbbbbbb"});
  EXPECT_EQ(ids("20260101T000000-bbbbbbbb").size(), 1u);
}

TEST_F(RunReference, WordsAreRunsSweepsBaselinesAndNames) {
  add("20260101T000000-aaaaaaaa", "main", 1);
  store::RunRecord swept = add("20260101T000000-bbbbbbbb", "pr", 2);
  swept.sweep_id = "sweep-2026-cafe";
  store_.update_run(swept);
  EXPECT_EQ(ids("last"), Ids{"20260101T000000-bbbbbbbb"});
  EXPECT_EQ(ids("20260101T000000-aaaaaaaa"), Ids{"20260101T000000-aaaaaaaa"});
  EXPECT_EQ(ids("aaaa"), Ids{"20260101T000000-aaaaaaaa"});
  EXPECT_EQ(ids("sweep-2026-cafe"), Ids{"20260101T000000-bbbbbbbb"});
  EXPECT_EQ(ids("cafe"), Ids{"20260101T000000-bbbbbbbb"});
  EXPECT_EQ(ids("main"), Ids{"20260101T000000-aaaaaaaa"});
  EXPECT_EQ(resolve_reference(store_, "cafe").meaning, "sweep sweep-2026-cafe");
  EXPECT_NE(complaint("20260101T").find("fits 2 runs or sweeps"), std::string::npos);
  EXPECT_TRUE(ids("aaa").empty());
}

TEST_F(RunReference, ANamedBaselineIsItsNewestVersion) {
  add("20260101T000000-aaaaaaaa", "main", 1);
  add("20260102T000000-bbbbbbbb", "main", 2);
  const Ids first{"20260101T000000-aaaaaaaa"};
  const Ids second{"20260102T000000-bbbbbbbb"};
  store_.add_baseline("nightly", "aaaa", first);
  store_.add_baseline("nightly", "bbbb", second);
  const ResolvedReference resolved = resolve_reference(store_, "nightly");
  EXPECT_EQ(resolved.meaning, "named baseline nightly, version 2");
  ASSERT_EQ(resolved.runs.size(), 1u);
  EXPECT_EQ(resolved.runs[0].id, second[0]);
  ASSERT_EQ(resolved.earlier.size(), 1u);
  EXPECT_EQ(resolved.earlier[0].id, first[0]);
  store::prune_store(store_.file(), second, store::PruneWhat::kRuns);
  EXPECT_TRUE(ids("nightly").empty());
  EXPECT_EQ(resolve_reference(store_, "nightly").missing, "the runs of this baseline were deleted");
  store_.delete_baseline("nightly");
  EXPECT_TRUE(ids("nightly").empty());
}

TEST_F(RunReference, WhatMatchesNothingIsNoErrorAndNamesWhatThereIs) {
  add("20260101T000000-aaaaaaaa", "main");
  store_.add_baseline("release", "main", Ids{"20260101T000000-aaaaaaaa"});
  const ResolvedReference resolved = resolve_reference(store_, "nightly");
  EXPECT_TRUE(resolved.runs.empty());
  EXPECT_NE(resolved.missing.find("release"), std::string::npos);
}

TEST_F(RunReference, ImpossibleReferencesSayWhatIsAllowed) {
  EXPECT_NE(complaint("nmae=main").find("a run has no field \"nmae\"; did you mean name?"), std::string::npos);
  EXPECT_NE(complaint("gpus=4").find("did you mean gpus_per_node or world_size?"), std::string::npos);
  EXPECT_NE(complaint("colour=red").find("the fields are accumulate, "), std::string::npos);
  EXPECT_NE(complaint("name=main,nodes").find("field=value"), std::string::npos);
  EXPECT_NE(complaint("name=main,").find("field=value"), std::string::npos);
  EXPECT_NE(complaint("=main").find("field=value"), std::string::npos);
  EXPECT_NE(complaint("nodes=two").find("number"), std::string::npos);
  EXPECT_NE(complaint("nodes= 2").find("number"), std::string::npos);
  EXPECT_NE(complaint("state=dancing").find("interrupted"), std::string::npos);
  EXPECT_NE(complaint("valid=maybe").find("true, false"), std::string::npos);
  EXPECT_NE(complaint("tags=x").find("tags.KEY"), std::string::npos);
  EXPECT_NE(complaint("").find("field=value"), std::string::npos);
  EXPECT_NE(complaint(std::string(5000, 'x')).find("4096"), std::string::npos);
}

TEST_F(RunReference, HostileNamesAreOnlyNames) {
  const std::string hostile = "'; DROP TABLE run; --\n\x1b[31m<script>%_";
  add("20260101T000000-aaaaaaaa", hostile);
  add("20260101T000000-bbbbbbbb", "x");
  EXPECT_EQ(ids("name=" + hostile), Ids{"20260101T000000-aaaaaaaa"});
  EXPECT_TRUE(ids("name=' OR 1=1 --").empty());
  EXPECT_TRUE(ids("'; DELETE FROM run; --").empty());
  EXPECT_EQ(store_.runs().size(), 2u);
}

TEST_F(RunReference, BaselineNamesAreChecked) {
  add("20260101T000000-aaaaaaaa", "main");
  const Ids run{"20260101T000000-aaaaaaaa"};
  for (const char* name : {"", "last", "a b", "a=b", "-x", ".x", "a,b", "'", "\n", "name\x1b"}) {
    EXPECT_THROW(store_.add_baseline(name, "r", run), Error) << name;
  }
  EXPECT_THROW(store_.add_baseline(std::string(65, 'a'), "r", run), Error);
  EXPECT_THROW(store_.add_baseline("main", "r", {}), Error);
  EXPECT_THROW(store_.add_baseline("main", "r", Ids{"no such run"}), Error);
  EXPECT_TRUE(store_.baselines().empty());
  EXPECT_THROW(store_.delete_baseline("main"), Error);
  EXPECT_EQ(store_.add_baseline("release/1.0", "r", run).version, 1);
  EXPECT_EQ(store_.add_baseline("release/1.0", "r2", run).version, 2);
  EXPECT_EQ(store_.baselines().at(0).version, 2);
  EXPECT_EQ(store_.baselines().at(0).reference, "r2");
  EXPECT_EQ(store_.baseline_versions("release/1.0").size(), 2u);
}

}  // namespace
}  // namespace ddbench::analyzer
