#include "ddbench/launch/machine_meter.h"

#include <gtest/gtest.h>

namespace ddbench::launch {
namespace {

TEST(MachineMeter, TellsOnlyWhatWasCountedInTheRun) {
  MachineMeter meter;
  const MachineCounts counts = meter.stop();
  for (const auto& [name, value] : counts.facts) EXPECT_FALSE(value.empty()) << name;
  EXPECT_FALSE(counts.facts.contains("nic.lo.sent_bytes"));
  EXPECT_TRUE(counts.facts.contains("cpu.stolen_percent"));
}

}  // namespace
}  // namespace ddbench::launch
