#include "core/provenance.h"

#include <gtest/gtest.h>

namespace ddbench {
namespace {

TEST(ProvenanceSet, KeepsFlagsThroughBitsAndNames) {
  ProvenanceSet set{Provenance::kOversubscribed, Provenance::kMeasured};
  EXPECT_TRUE(set.has(Provenance::kMeasured));
  EXPECT_FALSE(set.has(Provenance::kImported));
  EXPECT_EQ(ProvenanceSet::from_bits(set.bits()), set);
  EXPECT_EQ(set.names(), (std::vector<std::string_view>{"measured", "oversubscribed"}));
}

}  // namespace
}  // namespace ddbench
