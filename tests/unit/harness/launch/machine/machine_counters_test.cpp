#include "harness/launch/machine/machine_counters.h"

#include <gtest/gtest.h>

namespace ddbench::launch {
namespace {

TEST(MachineCounters, ReportsOfNoInterfaceOfItsOwnAndOfProcessors) {
  MachineCounters meter;
  const MachineCounts counts = meter.stop();
  EXPECT_FALSE(counts.facts.contains("nic.lo.sent_bytes"));
  EXPECT_TRUE(counts.facts.contains("cpu.stolen_percent"));
}

}  // namespace
}  // namespace ddbench::launch
