#include "analyzer/comparison/comparability.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "sample_runs.h"

namespace ddbench::analyzer {
namespace {

std::vector<store::RunRecord> runs(const std::string& name) {
  return records_of(test::sample_side(name, {10, 11}).runs);
}

Comparability compare(const std::vector<store::RunRecord>& a, const std::vector<store::RunRecord>& b,
                      const std::set<std::string>& varied = {}) {
  return compare_sides(a, b, varied);
}

TEST(CompareSides, RepetitionsAreComparableWhateverTheirLabels) {
  auto a = runs("a");
  auto b = runs("b");
  b[0].run_case.name = b[1].run_case.name = "pull request";
  b[0].run_case.tags = {{"commit", "abc"}};
  b[0].sweep_id = "other";
  b[1].repetition = 7;
  b[1].owner_host = "another";
  EXPECT_TRUE(compare(a, b).reasons.empty());
  EXPECT_TRUE(compare(a, b).compared.empty());
}

struct Change {
  const char* field;
  void (*apply)(store::RunRecord&);
};

class EveryField : public testing::TestWithParam<Change> {};

TEST_P(EveryField, ForbidsTheComparisonUnlessItIsWhatIsCompared) {
  const auto a = runs("a");
  auto b = runs("b");
  for (store::RunRecord& run : b) GetParam().apply(run);
  const Comparability strict = compare(a, b);
  ASSERT_EQ(strict.differences.size(), 1u);
  EXPECT_EQ(strict.differences[0].field, GetParam().field);
  ASSERT_EQ(strict.reasons.size(), 1u);
  const Comparability varied = compare(a, b, {GetParam().field});
  EXPECT_TRUE(varied.reasons.empty());
  ASSERT_EQ(varied.compared.size(), 1u);
  EXPECT_EQ(varied.compared[0].field, GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, EveryField,
    testing::Values(Change{"workload", [](auto& run) { run.run_case.work = ReferenceWorkload{"gpt2"}; }},
                    Change{"nodes", [](auto& run) { run.run_case.nodes = 4; }},
                    Change{"gpus_per_node", [](auto& run) { run.run_case.gpus_per_node = 8; }},
                    Change{"batch_per_gpu", [](auto& run) { run.run_case.batch_per_gpu = 1; }},
                    Change{"precision", [](auto& run) { run.run_case.precision = "bf16"; }},
                    Change{"scaling", [](auto& run) { run.run_case.scaling = ScalingMode::kStrong; }},
                    Change{"lr", [](auto& run) { run.run_case.lr = 0.1; }},
                    Change{"steps", [](auto& run) { run.run_case.steps = 7; }},
                    Change{"bucket_bytes", [](auto& run) { run.run_case.bucket_bytes = 7; }},
                    Change{"link", [](auto& run) { run.run_case.link = "1gbit"; }},
                    Change{"sku", [](auto& run) { run.run_case.sku = "large"; }},
                    Change{"data", [](auto& run) { run.run_case.data = "/data"; }},
                    Change{"workload_options.hidden",
                           [](auto& run) { std::get<ReferenceWorkload>(run.run_case.work).options["hidden"] = "8"; }},
                    Change{"network", [](auto& run) { run.environment.network = "infiniband"; }},
                    Change{"fingerprint", [](auto& run) { run.environment.fingerprint = "bbbb"; }},
                    Change{"provenance", [](auto& run) { run.provenance.add(Provenance::kImported); }}),
    [](const auto& test) {
      std::string name = test.param.field;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

TEST(CompareSides, SaysBothValues) {
  auto b = runs("b");
  for (store::RunRecord& run : b) run.run_case.link = "1gbit";
  const Comparability result = compare(runs("a"), b);
  EXPECT_EQ(
      result.reasons[0],
      "link differs: nothing in the baseline, \"1gbit\" in the candidate (--vary link compares the two)");
}

TEST(CompareSides, SaysWhatIsBehindAFingerprint) {
  auto b = runs("b");
  for (store::RunRecord& run : b) {
    run.environment.fingerprint = "bbbb";
    run.environment.facts["cpu.model"] = "Slow 8";
  }
  const Comparability result = compare(runs("a"), b);
  ASSERT_EQ(result.reasons.size(), 1u);
  EXPECT_NE(result.reasons[0].find("different hardware"), std::string::npos);
  EXPECT_NE(result.reasons[0].find("cpu.model Fast 9000 | Slow 8"), std::string::npos);
}

TEST(CompareSides, LetsTheNetworkFollowTheLink) {
  auto b = runs("b");
  for (store::RunRecord& run : b) {
    run.run_case.link = "1gbit";
    run.environment.network = "veth@1gbit";
    run.provenance.add(Provenance::kEmulatedNetwork);
  }
  const Comparability strict = compare(runs("a"), b);
  ASSERT_EQ(strict.differences.size(), 1u);
  EXPECT_EQ(strict.differences[0].field, "link");
  const Comparability varied = compare(runs("a"), b, {"link"});
  EXPECT_TRUE(varied.reasons.empty());
  EXPECT_EQ(varied.compared.size(), 3u);
}

TEST(CompareSides, AProvenanceThatFollowsFromNothingForbids) {
  auto b = runs("b");
  for (store::RunRecord& run : b) {
    run.run_case.precision = "bf16";
    run.provenance.add(Provenance::kOversubscribed);
  }
  const Comparability varied = compare(runs("a"), b, {"precision"});
  ASSERT_EQ(varied.differences.size(), 1u);
  EXPECT_EQ(varied.differences[0].field, "provenance");
}

TEST(CompareSides, OneNameStandsForAllKeysOfAMap) {
  auto b = runs("b");
  for (store::RunRecord& run : b) std::get<ReferenceWorkload>(run.run_case.work).options = {{"hidden", "8"}, {"depth", "2"}};
  EXPECT_TRUE(compare(runs("a"), b, {"workload_options"}).reasons.empty());
  EXPECT_EQ(compare(runs("a"), b, {"workload_options.depth"}).reasons.size(), 1u);
}

TEST(CompareSides, AnEditedScriptIsAnotherCase) {
  auto a = runs("a");
  auto b = runs("b");
  for (auto* side : {&a, &b}) {
    for (store::RunRecord& run : *side) set_program(run.run_case, {"python3", "train.py"});
  }
  for (store::RunRecord& run : b) set_program_files(run.environment.facts, {{"model.py", "1"}, {"train.py", "2"}});
  EXPECT_TRUE(compare(a, b).reasons.empty()) << "what the older runs ran is not known";
  for (store::RunRecord& run : a) set_program_files(run.environment.facts, {{"train.py", "3"}});
  EXPECT_EQ(compare(a, b).reasons,
            std::vector<std::string>{"the script changed: train.py (--vary script compares the two)"});
  EXPECT_TRUE(compare(a, b, {"script"}).reasons.empty());
  EXPECT_NO_THROW(check_varied_fields({"script"}));
  set_program_files(b[1].environment.facts, {{"model.py", "9"}, {"train.py", "3"}});
  EXPECT_EQ(compare(a, b, {"script"}).reasons,
            std::vector<std::string>{"the candidate mixes runs that are no repetitions: the script changed: model.py and "
                                     "train.py between run b0 and run b1"});
}

TEST(CompareSides, ASideMustBeOneCase) {
  auto a = runs("a");
  a[1].run_case.nodes = 8;
  const Comparability result = compare(a, runs("b"), {"nodes"});
  ASSERT_EQ(result.reasons.size(), 1u);
  EXPECT_EQ(result.reasons[0],
            "the baseline mixes runs that are no repetitions: nodes is \"2\" in run a0 and \"8\" in run a1");
}

TEST(CheckVariedFields, KnowsWhatDefinesARun) {
  EXPECT_NO_THROW(check_varied_fields(
      {"link", "workload_options", "strategy_options.cycle_ms", "network", "fingerprint"}));
  for (const char* field : {"", "colour", "name", "tags", "tags.team", "state", "id"}) {
    EXPECT_THROW(check_varied_fields({field}), Error) << field;
  }
}

}  // namespace
}  // namespace ddbench::analyzer
