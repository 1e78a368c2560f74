#include "core/run_case/run_case.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "changed_cases.h"
#include "core/error.h"
#include "core/run_case/case_fields.h"
#include "core/run_case/run_case_hash.h"
#include "expect_error.h"

namespace ddbench {
namespace {

RunCase unusual_case() {
  RunCase run_case;
  run_case.work = ReferenceWorkload{.options = {{"hidden", "1024,64"}}};
  run_case.nodes = 4;
  run_case.gpus_per_node = 2;
  run_case.scaling = ScalingMode::kStrong;
  run_case.batch_per_gpu = 16;
  run_case.lr = 0.1 + 0.2;
  run_case.seed = std::numeric_limits<std::uint64_t>::max();
  run_case.link = "2.5gbit";
  run_case.name = "a \"name\"\nwith <b>everything</b>";
  run_case.tags = {{"branch", "main"}};
  return run_case;
}

TEST(RunCase, JsonRoundTripKeepsEveryField) {
  const std::string json = to_json(unusual_case());
  EXPECT_EQ(to_json(run_case_from_json(json)), json);
  EXPECT_EQ(run_case_from_json(json).seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(run_case_from_json(json).lr, 0.1 + 0.2);
  EXPECT_EQ(to_json(run_case_from_json("{}")), to_json(RunCase{}));
}

TEST(RunCase, AFixedNumberOfStepsHasTheKeyThatItAlwaysHad) {
  EXPECT_EQ(case_key(RunCase{}).find("margin"), std::string::npos);
  RunCase by_margin = unusual_case();
  by_margin.steps = kMostSteps;
  by_margin.margin = 0.01;
  by_margin.max_time_s = 20;
  EXPECT_NO_THROW(validate(by_margin));
  EXPECT_EQ(run_case_from_json(to_json(by_margin)), by_margin);
  EXPECT_NE(case_key(by_margin), case_key(unusual_case()));
  EXPECT_TRUE(by_margin.ends_by_margin());
  RunCase read = unusual_case();
  EXPECT_TRUE(read_labels(to_json(by_margin), case_key(by_margin), read));
}

TEST(RunCase, JsonOfOthersThatIsDeepOrHasTooManyKeysIsRefused) {
  const std::string deep = "{\"lr\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  EXPECT_ERROR(ErrorCode::kBadInput, "nested more than 64 levels", run_case_from_json(deep));
  EXPECT_ERROR(ErrorCode::kBadInput, "nested more than 64 levels", case_fields_from_json(deep));
  std::string wide = "{\"a\":1";
  for (int i = 0; i < 20'000; ++i) wide += ",\"" + std::to_string(i) + "\":1";
  EXPECT_ERROR(ErrorCode::kBadInput, "more than 10000 keys", run_case_from_json(wide + "}"));
  RunCase brackets;
  brackets.name = std::string(100, '[') + "\\\"" + std::string(20'000, ':');
  EXPECT_EQ(run_case_from_json(to_json(brackets)).name, brackets.name) << "those in texts are no levels";
}

TEST(RunCase, NodesThatAreNotStatedAreOneAndKept) {
  EXPECT_EQ(case_key(RunCase{}).find("nodes_not_stated"), std::string::npos);
  RunCase unplaced = unusual_case();
  set_unplaced(unplaced, 8);
  EXPECT_EQ(run_case_from_json(to_json(unplaced)), unplaced);
  EXPECT_EQ(unplaced.world_size(), 8);
  EXPECT_FALSE(baseline_case(unplaced).nodes_not_stated);
  unplaced.nodes = 2;
  EXPECT_THROW(run_case_from_json(to_json(unplaced)), Error);
}

TEST(RunCase, AWindowIsKeptAndIsNoneByDefault) {
  for (const char* field : {"skip", "measure", "duration_s", "after"})
    EXPECT_EQ(case_key(RunCase{}).find(field), std::string::npos);
  EXPECT_FALSE(RunCase{}.has_window());
  RunCase windowed = unusual_case();
  windowed.skip = 10;
  windowed.measure = 50;
  windowed.duration_s = 2.5;
  windowed.after = AfterWindow::kStop;
  EXPECT_NO_THROW(validate(windowed));
  EXPECT_EQ(run_case_from_json(to_json(windowed)), windowed);
  EXPECT_NE(case_key(windowed), case_key(unusual_case()));
  RunCase read = unusual_case();
  EXPECT_TRUE(read_labels(to_json(windowed), case_key(windowed), read));
}

TEST(RunCase, JsonRefusesWhatItDoesNotKnow) {
  EXPECT_THROW(run_case_from_json(R"({"nodez": 2})"), Error);
  EXPECT_THROW(run_case_from_json(R"({"nodes": "two"})"), Error);
  EXPECT_THROW(run_case_from_json(R"({"scaling": "sideways"})"), Error);
  EXPECT_THROW(run_case_from_json("[]"), Error);
  EXPECT_THROW(run_case_from_json("{"), Error);
}

TEST(RunCase, JsonRefusesNumbersThatTheFieldDoesNotHold) {
  for (const char* value : {"1e300", "1.5", "4294967297", "-2147483649", "18446744073709551615", "true"}) {
    EXPECT_THROW(run_case_from_json(std::string(R"({"nodes":)") + value + "}"), Error) << value;
  }
  EXPECT_THROW(run_case_from_json(R"({"seed":-1})"), Error);
  EXPECT_THROW(run_case_from_json(R"({"lr":1e999})"), Error);
  EXPECT_EQ(run_case_from_json(R"({"seed":18446744073709551615})").seed, ~std::uint64_t{0});
}

TEST(RunCase, JsonRefusesNumbersThatNoRunHas) {
  for (const char* json : {R"({"nodes":2147483647,"gpus_per_node":2})", R"({"nodes":65536,"gpus_per_node":2})", R"({"nodes":0})",
                           R"({"steps":2147483647,"warmup":1})", R"({"batch_per_gpu":9223372036854775807})", R"({"accumulate":0})"}) {
    EXPECT_THROW(run_case_from_json(json), Error) << json;
  }
  EXPECT_EQ(run_case_from_json(R"({"nodes":65536})").world_size(), 65536);
}

TEST(RunCase, JsonSurvivesBytesThatAreNoUtf8) {
  RunCase run_case;
  run_case.name = "\xff\xfe";
  EXPECT_FALSE(run_case_from_json(to_json(run_case)).name.empty());
}

TEST(RunCase, KeyIgnoresLabelsAndNothingElse) {
  RunCase labelled = unusual_case();
  labelled.name = "other";
  labelled.tags.clear();
  EXPECT_EQ(case_key(labelled), case_key(unusual_case()));
  labelled.seed = 1;
  EXPECT_NE(case_key(labelled), case_key(unusual_case()));
}

TEST(RunCase, OnlyLabelsAreLeftOutOfHashAndComparison) {
  const RunCase usual;
  for (const test::ChangedCase& changed : test::each_field_changed(usual)) {
    const bool is_label = changed.role == FieldRole::kLabel;
    EXPECT_EQ(equal_unlabelled(changed.run_case, usual), is_label) << changed.field;
    EXPECT_EQ(hash_of_unlabelled(changed.run_case) == hash_of_unlabelled(usual), is_label) << changed.field;
  }
}

TEST(RunCase, BaselineKeepsWhatTheScalingModeKeeps) {
  const RunCase strong = baseline_case(unusual_case());
  EXPECT_EQ(strong.world_size(), 1);
  EXPECT_EQ(strong.global_batch(), 128);
  EXPECT_TRUE(strong.link.empty());

  RunCase weak = unusual_case();
  weak.scaling = ScalingMode::kWeak;
  EXPECT_EQ(baseline_case(weak).batch_per_gpu, 16);
}

TEST(RunCase, ValidateNamesFieldValueAndRule) {
  EXPECT_NO_THROW(validate(unusual_case()));
  const std::vector<std::pair<std::string, std::function<void(RunCase&)>>> wrong = {
      {"nodes is 0", [](RunCase& c) { c.nodes = 0; }},
      {"gpus is -1", [](RunCase& c) { c.gpus_per_node = -1; }},
      {"nodes x gpus is 4294967296", [](RunCase& c) { c.nodes = c.gpus_per_node = 65536; }},
      {"steps is 0", [](RunCase& c) { c.steps = 0; }},
      {"margin is 150", [](RunCase& c) { c.margin = 1.5; }},
      {"margin is -1", [](RunCase& c) { c.margin = -0.01; }},
      {"max-time is 0", [](RunCase& c) { c.margin = 0.01; }},
      {"max-time is 5", [](RunCase& c) { c.max_time_s = 5; }},
      {"skip is -1", [](RunCase& c) { c.skip = -1; }},
      {"measure is -1", [](RunCase& c) { c.measure = -1; }},
      {"duration is nan", [](RunCase& c) { c.duration_s = std::numeric_limits<double>::quiet_NaN(); }},
      {"lr is nan", [](RunCase& c) { c.lr = std::numeric_limits<double>::quiet_NaN(); }},
      {"momentum is 1", [](RunCase& c) { c.momentum = 1; }},
      {"batch-per-gpu is 0", [](RunCase& c) { c.batch_per_gpu = 0; }},
  };
  for (const auto& [message, spoil] : wrong) {
    RunCase run_case;
    spoil(run_case);
    try {
      validate(run_case);
      ADD_FAILURE() << "accepted: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_EQ(error.message().substr(0, message.size()), message);
    }
  }
}

}  // namespace
}  // namespace ddbench
