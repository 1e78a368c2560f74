#include "analyzer/run/run_fields.h"

#include <gtest/gtest.h>

#include "analyzer/comparison/comparability.h"
#include "analyzer/comparison/field_differences.h"
#include "analyzer/scaling/curve_compatibility.h"
#include "analyzer/scaling/curve_groups.h"
#include "changed_cases.h"
#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

store::RunRecord run_on(int nodes) {
  store::RunRecord run;
  run.id = "a";
  run.run_case.nodes = nodes;
  run.environment.network = "veth";
  run.environment.fingerprint = "ffff";
  return run;
}

bool is_one_curve(const std::vector<store::RunRecord>& runs) {
  try {
    require_one_curve(runs);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// One answer everywhere: it is the role of the field that decides.
TEST(FieldRoles, DecideEveryComparisonOfRuns) {
  std::size_t labels = 0;
  for (const ddbench::test::ChangedCase& changed : ddbench::test::each_field_changed(run_on(2).run_case)) {
    SCOPED_TRACE(changed.field);
    std::vector<store::RunRecord> runs{run_on(2), run_on(2)};
    runs[1].run_case = changed.run_case;
    const std::span<const store::RunRecord> both(runs);
    const bool label = changed.role == FieldRole::kLabel;
    const bool one_curve = label || changed.role == FieldRole::kScale || changed.role == FieldRole::kSampling;
    labels += label;
    EXPECT_EQ(defining_key(both[0]) == defining_key(both[1]), label);
    EXPECT_EQ(compare_sides(both.first(1), both.last(1), {}).reasons.empty(), label);
    EXPECT_TRUE(compare_sides(both.first(1), both.last(1), {changed.field}).reasons.empty());
    const auto differences = field_differences(both.first(1), both.last(1));
    ASSERT_EQ(differences.size(), label ? 0u : 1u);
    if (!label) {
      EXPECT_EQ(differences[0].role, changed.role);
    }
    EXPECT_EQ(is_one_curve(runs), one_curve);
    EXPECT_EQ(differing_fields(runs, kWithinCurve).empty(), one_curve);
    const bool always_split = changed.field == "workload" || changed.field == "scaling";
    EXPECT_EQ(varied_fields(runs).empty(), one_curve || always_split);
  }
  EXPECT_EQ(labels, 2u);
}

TEST(HasMeaning, DefaultsOfTheEngineSayNothingOfOtherRuns) {
  RunCase run_case;
  const ProvenanceSet measured{Provenance::kMeasured};
  const ProvenanceSet imported{Provenance::kImported};
  for (const char* field : {"lr", "momentum", "seed", "bucket_bytes", "data", "batch_per_gpu", "steps", "warmup", "strategy", "name", "nodes"})
    EXPECT_TRUE(has_meaning(run_case, measured, field)) << field;
  for (const char* field : {"lr", "momentum", "weight_decay", "seed", "bucket_bytes", "first_bucket_bytes", "data", "steps", "warmup"})
    EXPECT_FALSE(has_meaning(run_case, imported, field)) << field;
  for (const char* field : {"batch_per_gpu", "strategy", "precision", "name", "nodes", "workload", "tags"})
    EXPECT_TRUE(has_meaning(run_case, imported, field)) << field;
  run_case.lr = 0.1;
  EXPECT_TRUE(has_meaning(run_case, imported, "lr")) << "a table stated it";
  set_program(run_case, {"./train"});
  run_case.lr = RunCase{}.lr;
  for (const char* field : {"lr", "momentum", "seed", "bucket_bytes", "data", "batch_per_gpu", "global_batch", "steps"})
    EXPECT_FALSE(has_meaning(run_case, measured, field)) << field;
  EXPECT_TRUE(has_meaning(run_case, measured, "warmup"));
  EXPECT_TRUE(has_meaning(run_case, imported, "steps")) << "those of a log or a trace";
  run_case.work = Microbenchmark{};
  for (const char* field : {"lr", "batch_per_gpu", "strategy", "precision", "optimizer", "scaling", "steps", "warmup"})
    EXPECT_FALSE(has_meaning(run_case, measured, field)) << field;
}

TEST(GroupFields, OnOneNodeNoNetworkSetsARunApart) {
  std::vector<store::RunRecord> runs{run_on(1), run_on(2)};
  runs[1].run_case.requested_network = NetworkRequest::kEthernet;
  runs[1].run_case.link = "1gbit";
  EXPECT_TRUE(is_one_curve(runs));
  EXPECT_TRUE(varied_fields(runs).empty());
  runs[0].run_case.nodes = 4;
  EXPECT_FALSE(is_one_curve(runs));
  EXPECT_EQ(varied_fields(runs), (std::vector<std::string>{"link", "requested_network"}));
}

TEST(GroupFields, StrongScalingKeepsTheGlobalBatch) {
  std::vector<store::RunRecord> runs{run_on(1), run_on(2)};
  for (store::RunRecord& run : runs) run.run_case.scaling = ScalingMode::kStrong;
  runs[1].run_case.batch_per_gpu = 32;
  EXPECT_TRUE(is_one_curve(runs));
  runs[1].run_case.batch_per_gpu = 16;
  EXPECT_FALSE(is_one_curve(runs));
  EXPECT_EQ(varied_fields(runs), std::vector<std::string>{"global_batch"});
  for (store::RunRecord& run : runs) run.run_case.scaling = ScalingMode::kWeak;
  EXPECT_EQ(varied_fields(runs), std::vector<std::string>{"batch_per_gpu"});
}

TEST(FieldDifferences, AProvenanceFollowsOnlyFromWhatDiffers) {
  std::vector<store::RunRecord> runs{run_on(2), run_on(2)};
  runs[1].provenance.add(Provenance::kOversubscribed);
  const std::span<const store::RunRecord> both(runs);
  ASSERT_EQ(field_differences(both.first(1), both.last(1)).size(), 1u);
  EXPECT_EQ(field_differences(both.first(1), both.last(1))[0].role, FieldRole::kEnvironment);
  runs[1].run_case.gpus_per_node = 8;
  const auto differences = field_differences(both.first(1), both.last(1));
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].field, "gpus_per_node");
  EXPECT_EQ(differences[1].role, FieldRole::kConsequence);
}

TEST(IsRunField, KnowsKeysOfMapsAndWhatFollows) {
  for (const char* name : {"link", "workload_options.hidden", "strategy_options.cycle_ms", "tags.team",
                           "global_batch", "world_size", "provenance"}) {
    EXPECT_TRUE(is_run_field(name)) << name;
  }
  for (const char* name : {"", "colour", "workload_options", "workload_options.", "link.x"})
    EXPECT_FALSE(is_run_field(name)) << name;
}

}  // namespace
}  // namespace ddbench::analyzer
