#include "core/run_case/case_diff.h"

#include <gtest/gtest.h>

#include <string_view>

#include "core/error.h"
#include "changed_cases.h"

namespace ddbench {
namespace {

struct Anything {
  template <typename T>
  operator T() const;  // never called: it makes an aggregate's fields countable
};

template <typename T, typename... Fields>
consteval std::size_t field_count() {
  if constexpr (requires { T{Fields{}..., Anything{}}; })
    return field_count<T, Fields..., Anything>();
  else
    return sizeof...(Fields);
}

TEST(CaseFields, EveryFieldOfACaseHasItsRole) {
  constexpr std::size_t kGroups = 5;
  static_assert(field_count<RunCase>() == kGroups + 1, "a base is a field of an aggregate; the one beside them is the work");
  EXPECT_EQ(test::each_field_changed({}).size(),
            field_count<CasePlacement>() + field_count<CaseTraining>() + field_count<CaseSampling>() +
                field_count<CaseNetwork>() + field_count<CaseLabels>() + 1);
}

TEST(CaseDiff, ADifferenceInOneFieldIsThatFieldInItsRole) {
  for (const test::ChangedCase& changed : test::each_field_changed({})) {
    const auto differences = case_diff(RunCase{}, changed.run_case);
    EXPECT_EQ(case_key(changed.run_case) == case_key(RunCase{}), changed.role == FieldRole::kLabel)
        << changed.field;
    if (changed.role == FieldRole::kLabel) {
      EXPECT_TRUE(differences.empty()) << changed.field;
      continue;
    }
    ASSERT_EQ(differences.size(), 1u) << changed.field;
    EXPECT_EQ(differences[0].field, changed.field);
    EXPECT_EQ(differences[0].role, changed.role) << changed.field;
    EXPECT_TRUE(is_asked_for(changed.role)) << changed.field;
    EXPECT_NE(differences[0].a, differences[0].b) << changed.field;
  }
}

TEST(CaseDiff, TheJsonFormHasTheSameFieldsInTheSameRoles) {
  for (const test::ChangedCase& changed : test::each_field_changed({})) {
    const CaseFields fields = case_fields(changed.run_case);
    const CaseFields read = case_fields_from_json(to_json(changed.run_case));
    ASSERT_EQ(fields.size(), read.size());
    for (const auto& [name, field] : fields) {
      ASSERT_TRUE(read.contains(name)) << name;
      EXPECT_EQ(read.at(name).text, field.text) << name;
      EXPECT_EQ(read.at(name).role, field.role) << name;
      EXPECT_EQ(read.at(name).numeric, field.numeric) << name;
    }
  }
}

TEST(CaseDiff, AConsequenceWithoutItsCauseIsOfTheEnvironment) {
  static constexpr std::string_view kCauses[] = {"link"};
  const auto fields = [](const char* link, const char* network) {
    return CaseFields{{"link", {link, FieldRole::kPlace}},
                      {"network", {network, FieldRole::kConsequence, false, kCauses}}};
  };
  const auto follows = case_diff(fields("1gbit", "veth@1gbit"), fields("", "veth"));
  ASSERT_EQ(follows.size(), 2u);
  EXPECT_EQ(follows[1].role, FieldRole::kConsequence);
  const auto alone = case_diff(fields("", "ethernet"), fields("", "veth"));
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].role, FieldRole::kEnvironment);
}

TEST(CaseDifferences, NameBothValues) {
  RunCase here;
  here.lr = 0.25;
  here.precision = "bf16";
  std::get<ReferenceWorkload>(here.work).options["hidden"] = "8";
  EXPECT_EQ(case_differences(case_key(RunCase{}), case_key(here)),
            "lr is 0.05 there and 0.25 here, precision is \"fp32\" there and \"bf16\" here, "
            "workload_options.hidden is nothing there and \"8\" here");
  EXPECT_EQ(case_differences(case_key(here), case_key(here)), "");
  EXPECT_EQ(case_differences(R"({"of another version":1})", "{}"),
            "of another version is 1 there and nothing here");
  EXPECT_THROW(case_differences("[]", "{}"), Error);
}

}  // namespace
}  // namespace ddbench
