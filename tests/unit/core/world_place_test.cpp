#include "core/world_place.h"

#include <gtest/gtest.h>

namespace ddbench {
namespace {

TEST(WorldPlace, IsReadFromItsName) {
  EXPECT_EQ(world_place_name({1, 4}), "place: rank 1 of 4");
  EXPECT_EQ(parse_world_place(world_place_name({65535, 65536})), (WorldPlace{65535, 65536}));
}

TEST(WorldPlace, IsNothingElse) {
  for (const char* name : {"", "place", "place: rank ", "place: rank 1", "place: rank 1 of ", "place: rank 1 of x", "place: rank 4 of 4",
                           "place: rank -1 of 4", "place: rank 0 of 0", "place: rank 1 of 4 or so", "place: rank 1 of 99999999999"})
    EXPECT_FALSE(parse_world_place(name)) << name;
}

}  // namespace
}  // namespace ddbench
