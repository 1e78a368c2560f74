#include "core/measured.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/name_table.h"

namespace ddbench {
namespace {

TEST(Measured, HoldsAValueOrAReason) {
  const Measured<double> known = 2.5;
  ASSERT_TRUE(known);
  EXPECT_EQ(*known, 2.5);
  EXPECT_TRUE(known.reason().empty());

  const auto unknown = Measured<double>::missing("no clock");
  EXPECT_FALSE(unknown);
  EXPECT_EQ(unknown.reason(), "no clock");
  EXPECT_EQ(unknown.value_or(1.0), 1.0);
}

TEST(NameTable, IdsCountUpAndStay) {
  NameTable table;
  EXPECT_EQ(table.intern("a"), 0u);
  EXPECT_EQ(table.intern("b"), 1u);
  EXPECT_EQ(table.intern("a"), 0u);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace ddbench
