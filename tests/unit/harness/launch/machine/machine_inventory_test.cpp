#include "harness/launch/machine/machine_inventory.h"

#include <gtest/gtest.h>

namespace ddbench::launch {
namespace {

host::Facts machine(const std::string& host, const std::string& cpu) {
  return {{"hostname", host}, {"cpu.model", cpu}, {"cpu.cores", "1"}, {"memory.bytes", "68719476736"}};
}

TEST(MachinesOfRanks, EachIsReportedOnceWithTheCoresThatItsRanksWereGiven) {
  const std::vector<RankMachine> ranks = {{"kernel-a", "0,1", machine("a", "EPYC")},
                                          {"kernel-a", "1,2", {}},
                                          {"kernel-b", "0", machine("b", "EPYC")},
                                          {"kernel-b", "0", machine("b2", "EPYC")}};
  const std::vector<host::Facts> machines = machines_of(ranks);
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(machines[0].at("hostname"), "a");
  EXPECT_EQ(machines[0].at("cpu.cores"), "3");
  EXPECT_EQ(machines[1].at("hostname"), "b") << "the first rank of a machine reports it";
  EXPECT_EQ(machines[1].at("cpu.cores"), "1");
  EXPECT_EQ(machines_of({}).size(), 0U);
}

TEST(MachinesOfRanks, ADifferenceIsReportedInWords) {
  std::vector<host::Facts> machines = {machine("a", "EPYC"), machine("b", "EPYC")};
  EXPECT_EQ(difference_of(machines), "");
  EXPECT_EQ(host::fingerprint(machines), host::fingerprint(std::span(machines).first(1)))
      << "machines that are alike are as one";
  machines.push_back(machine("c", "Xeon"));
  EXPECT_EQ(difference_of(machines),
            "the machines of the ranks differ: a is cpu EPYC, cores 1, governor unknown, gib 64; "
            "c is cpu Xeon, cores 1, governor unknown, gib 64");
  EXPECT_NE(host::fingerprint(machines), host::fingerprint(std::span(machines).first(1)));
  EXPECT_EQ(difference_of({}), "");
}

}  // namespace
}  // namespace ddbench::launch
