#include "machine_meter.h"

#include <gtest/gtest.h>

namespace ddbench::experiment {
namespace {

TEST(MachineMeter, TellsOnlyWhatWasCountedInTheRun) {
  MachineMeter meter;
  const auto facts = meter.facts(100);
  for (const auto& [name, value] : facts) {
    EXPECT_TRUE(name.starts_with("counted.")) << name;
    EXPECT_FALSE(value.empty()) << name;
  }
  EXPECT_FALSE(facts.contains("counted.nic.lo.sent_bytes"));
  EXPECT_TRUE(facts.contains("counted.cpu.stolen_percent"));
  meter.notes();
}

}  // namespace
}  // namespace ddbench::experiment
