#include "harness/experiment/run/counter_facts.h"

#include <gtest/gtest.h>

namespace ddbench::experiment {
namespace {

using launch::MachineCounts;
using Facts = std::map<std::string, std::string>;

TEST(MachineCounts, OfOneMachineNeedNoName) {
  const std::vector<MachineCounts> counts{{0, "alpha", {{"gpu.energy_j", "50"}}, {"GPU 0 was throttled"}}};
  EXPECT_EQ(counted_facts(counts, 1, 100),
            (Facts{{"counted.gpu.energy_j", "50"}, {"counted.gpu.energy_j_per_sample", "0.5"}}));
  EXPECT_EQ(counted_facts(counts, 1, 0), (Facts{{"counted.gpu.energy_j", "50"}}));
  EXPECT_EQ(counted_notes(counts, 1), std::vector<std::string>{"GPU 0 was throttled"});
}

TEST(MachineCounts, OfSeveralMachinesAreReportedByNodeAndTheirEnergyIsTheirs) {
  const std::vector<MachineCounts> counts{
      {0, "alpha", {{"gpu.energy_j", "50"}}, {}},
      {2, "beta", {{"gpu.energy_j", "150"}, {"nic.eth0.sent_bytes", "7"}}, {"GPU 0 was throttled"}}};
  EXPECT_EQ(counted_facts(counts, 2, 100), (Facts{{"counted.node0.gpu.energy_j", "50"},
                                                  {"counted.node2.gpu.energy_j", "150"},
                                                  {"counted.node2.nic.eth0.sent_bytes", "7"},
                                                  {"counted.gpu.energy_j", "200"},
                                                  {"counted.gpu.energy_j_per_sample", "2"}}));
  EXPECT_EQ(counted_notes(counts, 2), std::vector<std::string>{"node 2 (beta): GPU 0 was throttled"});
}

TEST(MachineCounts, EnergyOfAllIsNotReportedWhereAMachineDidNotShowItsOwn) {
  const std::vector<MachineCounts> silent{{0, "alpha", {{"gpu.energy_j", "50"}}, {}}};
  EXPECT_EQ(counted_facts(silent, 2, 100), (Facts{{"counted.node0.gpu.energy_j", "50"}}));
  const std::vector<MachineCounts> without{{0, "alpha", {{"gpu.energy_j", "50"}}, {}}, {1, "beta", {}, {}}};
  EXPECT_EQ(counted_facts(without, 2, 100), (Facts{{"counted.node0.gpu.energy_j", "50"}}));
  EXPECT_TRUE(counted_facts({}, 1, 100).empty());
}

}  // namespace
}  // namespace ddbench::experiment
