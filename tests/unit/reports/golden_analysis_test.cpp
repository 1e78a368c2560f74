#include <gtest/gtest.h>

#include "example_analysis.h"
#include "reports/formats/terminal/analysis.h"
#include "tests/golden/golden.h"

namespace ddbench::reports {
namespace {

using golden::matches_golden;

TEST(GoldenAnalysis, OfAScalingCurve) {
  EXPECT_TRUE(matches_golden("curve_strong.txt", curve_text(example_curve(), {false, 140})));
  EXPECT_TRUE(matches_golden("curve_strong.json", curve_json(example_curve()) + "\n"));
}

TEST(GoldenAnalysis, OfAComparison) {
  EXPECT_TRUE(matches_golden("comparison_links.txt", comparison_text(example_comparison(), {})));
  EXPECT_TRUE(matches_golden("comparison_links.json", comparison_json(example_comparison()) + "\n"));
}

TEST(GoldenAnalysis, OfGroupsWithAndWithoutCosts) {
  EXPECT_TRUE(matches_golden("groups_sku.txt", groups_text(example_groups(), example_costs(), {false, 140})));
  EXPECT_TRUE(matches_golden("groups_sku.json", groups_json(example_groups(), example_costs()) + "\n"));
  const std::string plain = groups_text(example_groups(), {}, {});
  EXPECT_EQ(plain.find("USD"), std::string::npos);
}

TEST(AnalysisText, NarrowTerminalsCutAndNeverBreakATable) {
  for (const int width : {20, 40, 80}) {
    for (const std::string& text :
         {curve_text(example_curve(), {false, width}), comparison_text(example_comparison(), {false, width}),
          groups_text(example_groups(), example_costs(), {false, width})}) {
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
      EXPECT_FALSE(text.empty());
    }
  }
}

TEST(AnalysisText, WithoutALawTheReasonIsPrinted) {
  analyzer::ScalingCurve curve = example_curve();
  curve.model = Measured<analyzer::ModelChoice>::missing("a law is chosen by leaving scales out");
  curve.stragglers = Measured<analyzer::StragglerReport>::missing("single rank: no peer wait");
  const std::string text = curve_text(curve, {});
  EXPECT_NE(text.find("none: a law is chosen"), std::string::npos);
  EXPECT_NE(text.find("not known: single rank"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::reports
