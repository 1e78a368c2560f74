#include <gtest/gtest.h>

#include "analyzer/gate/gate.h"
#include "analyzer/run/utilisation.h"

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
  EXPECT_EQ(*measures[RunMetric::kHostMemory], 9);
  EXPECT_EQ(measures[RunMetric::kEfficiency].reason(), "no baseline");
  EXPECT_EQ(measures[RunMetric::kDeviceMemory].reason(), "neither the allocator of a device nor NVML reported it");
  Facts& facts = summary.run.environment.facts;
  facts["counted.gpu.0.peak_memory_bytes"] = "20000000000";
  facts["counted.gpu.0.memory_bytes"] = "80000000000";
  facts["counted.node1.gpu.3.peak_memory_bytes"] = "30000000000";
  EXPECT_EQ(*measure_run(summary)[RunMetric::kDeviceMemory], 3e10) << "NVML reports that of a program";
  const std::vector<GpuMemory> gpus = gpu_memory_of(summary.run);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].gpu, "GPU 0");
  EXPECT_EQ(gpus[0].bytes, 80'000'000'000);
  EXPECT_EQ(gpus[1].gpu, "node 1 GPU 3");
  facts["memory.device_peak_bytes"] = "700";
  facts["memory.device_peak_of_ranks"] = "700, 600";
  facts["memory.parameters_bytes"] = "500";
  facts["memory.buckets_bytes"] = "0";
  EXPECT_EQ(*measure_run(summary)[RunMetric::kDeviceMemory], 700);
  const auto memory = device_memory_of(summary.run);
  EXPECT_EQ(memory->of_rank(1), 600);
  EXPECT_EQ(memory->of_rank(2), 0) << "not reported";
  EXPECT_EQ(memory->parts, (std::vector<std::pair<std::string, std::int64_t>>{{"parameters", 500}}));

  summary.exposed_communication_ns = 0;
  EXPECT_EQ(*measure_run(summary)[RunMetric::kExposed],
            0);  // fully hidden, which is no lack of a measurement
  summary.communication_ns = 0;
  EXPECT_EQ(measure_run(summary)[RunMetric::kExposed].reason(), "no communication spans were recorded");
  summary.collectives.clear();
  EXPECT_EQ(measure_run(summary)[RunMetric::kBusBandwidth].reason(), "no communication spans were recorded");
  summary.ranks[1].peak_memory_bytes = 0;
  EXPECT_EQ(measure_run(summary)[RunMetric::kHostMemory].reason(), "rank 1 did not report peak memory");
  summary.step_time_ns = Quantity{0};
  EXPECT_FALSE(measure_run(summary)[RunMetric::kStepTime]);
}

}  // namespace
}  // namespace ddbench::analyzer
