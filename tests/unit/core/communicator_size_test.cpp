#include "core/name_table.h"

#include <gtest/gtest.h>

namespace ddbench {
namespace {

TEST(CommunicatorSize, ANameKeepsIt) {
  for (const CommunicatorSize& size : {CommunicatorSize{0, 1}, {7, 4}, {65535, 100'000}})
    EXPECT_EQ(parse_communicator_size(communicator_size_name(size)), size);
  EXPECT_EQ(communicator_size_name({7, 4}), "communicator 7: 4 ranks");
}

TEST(CommunicatorSize, OtherNamesAreNone) {
  for (const char* name : {"", "communicator", "communicator 7", "communicator 7: 0 ranks", "communicator 7: -4 ranks",
                           "communicator 7: 4 ranks more", "communicator 65536: 4 ranks", "communicator -1: 4 ranks",
                           "communicator 7: 99999999999 ranks", "Communicator 7: 4 ranks", "all_reduce"})
    EXPECT_FALSE(parse_communicator_size(name)) << name;
}

}  // namespace
}  // namespace ddbench
