#include <gtest/gtest.h>

#include "analyzer/gate/gate.h"

namespace ddbench::analyzer {
namespace {

TEST(MeasureRun, TakesOneNumberOfEachMetricOrSaysWhyNot) {
  RunSummary summary;
  summary.run.run_case.nodes = 2;
  summary.run.run_case.gpus_per_node = 1;
  summary.step_time_ns = Quantity{2e6};
  summary.samples_per_s = 64000.0;
  summary.probed_steps = 10;
  summary.communication_ns = 500;
  summary.exposed_communication_ns = 300;
  CollectiveSummary small;
  small.record.bytes = 10;
  small.busbw_gb_per_s = 1.0;
  CollectiveSummary large;
  large.record.bytes = 1000;
  large.busbw_gb_per_s = 7.0;
  summary.collectives = {small, large};
  store::RankRecord rank;
  rank.peak_memory_bytes = 5;
  summary.ranks = {rank, rank};
  summary.ranks[1].rank = 1;
  summary.ranks[1].peak_memory_bytes = 9;
  const RunMeasures measures = measure_run(summary);
  EXPECT_EQ(*measures[RunMetric::kStepTime], 2e6);
  EXPECT_EQ(*measures[RunMetric::kThroughput], 64000);
  EXPECT_EQ(*measures[RunMetric::kExposed], 300);
  EXPECT_EQ(*measures[RunMetric::kBusBandwidth], 7);
  EXPECT_EQ(*measures[RunMetric::kPeakMemory], 9);
  EXPECT_EQ(measures[RunMetric::kEfficiency].reason(), "no baseline");

  summary.exposed_communication_ns = 0;
  EXPECT_EQ(*measure_run(summary)[RunMetric::kExposed],
            0);  // fully hidden, which is no lack of a measurement
  summary.communication_ns = 0;
  EXPECT_EQ(measure_run(summary)[RunMetric::kExposed].reason(), "no communication spans were recorded");
  summary.collectives.clear();
  EXPECT_EQ(measure_run(summary)[RunMetric::kBusBandwidth].reason(), "no communication spans were recorded");
  summary.ranks[1].peak_memory_bytes = 0;
  EXPECT_EQ(measure_run(summary)[RunMetric::kPeakMemory].reason(), "rank 1 did not report peak memory");
  summary.step_time_ns = Quantity{0};
  EXPECT_FALSE(measure_run(summary)[RunMetric::kStepTime]);
}

}  // namespace
}  // namespace ddbench::analyzer
