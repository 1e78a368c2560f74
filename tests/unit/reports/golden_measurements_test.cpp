// What `ddbench micro` and `ddbench batch` print.
#include <gtest/gtest.h>

#include "reports/formats/terminal/batch.h"
#include "reports/formats/terminal/micro.h"
#include "tests/golden/golden.h"

namespace ddbench::reports {
namespace {

using analyzer::MicroOperation;
using golden::matches_golden;

analyzer::MicroTiming timing(double bytes, double time_ns, double factor, std::int64_t wrong = 0) {
  return {time_ns, {time_ns * 0.75, time_ns, time_ns * 1.5}, 300, bytes / time_ns, bytes / time_ns * factor,
          wrong};
}

/// Written down, not fitted: golden files hold on every machine.
analyzer::AlphaBetaFit example_fit() {
  analyzer::AlphaBetaRegime regime;
  regime.from_bytes = 8;
  regime.to_bytes = 134'217'728;
  regime.sizes = 5;
  regime.latency_ns = 45'150;
  regime.ns_per_byte = 12.5;
  regime.latency = analyzer::Estimate{45'150, {44'500, 45'750, 0.95, "Student's t"}};
  regime.per_byte = analyzer::Estimate{12.5, {12.25, 12.75, 0.95, "Student's t"}};
  regime.r_squared = 0.9995;
  regime.rms_error = 0.0125;
  return {"all_reduce", 4, {regime}, {}};
}

analyzer::MicroTable example_micro() {
  analyzer::MicroTable table;
  table.run.id = "20261121T001905-3f9a1c2b";
  table.run.run_case.work = Microbenchmark{};
  table.run.run_case.nodes = 2;
  table.run.run_case.gpus_per_node = 2;
  table.run.state = store::RunState::kDone;
  table.run.provenance = {Provenance::kMeasured, Provenance::kEmulatedNetwork};
  table.run.environment.network = "veth@1gbit";
  table.run.environment.facts["transport"] = "tcp eth0 \x1b[31m10.77.0.1";
  table.ranks = 4;
  for (double bytes = 8; bytes < 2e8; bytes *= 64) {
    const double time_ns = 45'000 + bytes * 12.5;
    table.rows.push_back({MicroOperation::kAllReduce, static_cast<std::int64_t>(bytes),
                          static_cast<std::int64_t>(bytes / 4), "sum", -1,
                          timing(bytes, time_ns * 1.125, 1.5), timing(bytes, time_ns, 1.5)});
  }
  table.rows.push_back(
      {MicroOperation::kBroadcast, 1024, 256, "none", 0, timing(1024, 9000, 1), timing(1024, 8000, 1, 3)});
  table.rows.push_back({MicroOperation::kAllToAll, 1024, 64, "none", -1, timing(1024, 7000, 0.75), {}});
  table.ceilings = {{MicroOperation::kGemm, 98.7e9, 91.2e9}, {MicroOperation::kCopy, 12.3e9, 11.1e9}};
  table.fits = {example_fit()};
  table.wrong = 3;
  table.notes = {"3 elements of results are wrong: the times must not be used"};
  return table;
}

analyzer::BatchAnalysis example_batch() {
  analyzer::BatchCurve curve;
  curve.variant = "lr_rule=sqrt";
  for (const auto& [gpus, per_gpu] : {std::pair{1, 64}, {1, 512}, {2, 512}, {4, 512}}) {
    analyzer::BatchRow row;
    row.run_case.gpus_per_node = row.world_size = gpus;
    row.run_case.batch_per_gpu = per_gpu;
    row.applied_rate = 0.05;
    row.global_batch = row.run_case.global_batch();
    row.runs = {"20261121T001905-3f9a1c2b"};
    const double steps = 200 * (1 + 512.0 / static_cast<double>(row.global_batch));
    row.run_steps = {steps - 2, steps + 2};
    row.missed = gpus == 4 ? 1 : 0;
    row.steps = steps;
    row.samples = steps * static_cast<double>(row.global_batch);
    row.step_time_ns = 10e6;
    row.time_s = steps * 10e-3;
    row.gpu_hours = steps * 10e-3 * gpus / 3600;
    if (gpus > 1) row.return_of_added = gpus == 2 ? 0.333 : 0.2;
    if (gpus == 2) row.usd = 1.234;
    row.provenance = {Provenance::kMeasured};
    curve.rows.push_back(row);
    curve.points.push_back({static_cast<double>(row.global_batch), row.run_steps,
                            std::vector<double>(static_cast<std::size_t>(row.missed), steps)});
  }
  analyzer::NoiseScale known{0.1, 50, analyzer::Estimate{500, {450, 560, 0.95, "Fieller"}}, 0, 40};
  analyzer::NoiseScale bounded{0.1, 80, Measured<analyzer::Estimate>::missing("it drowns"), 300, 20};
  curve.rows[2].noise = known;
  curve.rows[3].noise = bounded;
  analyzer::CriticalBatch critical;
  critical.fewest_steps = {"fewest steps", "steps", 200,
                           ConfidenceInterval{195.5, 204.5, 0.95, "Student's t"}};
  critical.fewest_samples = {"fewest samples", "samples", 102'400, {}};
  critical.batch = analyzer::Estimate{512, {492.5, 532.5, 0.95, "Fieller"}};
  critical.rms_error = 0.0125;
  critical.badly_fitted_batches = {2048};
  critical.notes = {"batch 2048 fits badly: the learning rate may not suit it"};
  curve.critical = critical;
  curve.pays_up_to = Measured<double>::missing("no added GPUs returned half of their share");
  return {0.25, {curve}, {"3 run(s) without a target loss are left out"}};
}

TEST(GoldenMeasurements, OfCollectivesBySize) {
  EXPECT_TRUE(matches_golden("micro_links.txt", micro_text(example_micro(), {})));
  EXPECT_TRUE(matches_golden("micro_links.json", micro_json(example_micro()) + "\n"));
}

TEST(GoldenMeasurements, OfTrainingByBatch) {
  EXPECT_TRUE(matches_golden("batch_target.txt", batch_text(example_batch(), {})));
  EXPECT_TRUE(matches_golden("batch_target.json", batch_json(example_batch()) + "\n"));
}

TEST(MicroText, ColumnsAreNeverCut) {
  const std::string narrow = micro_text(example_micro(), {false, 40});
  EXPECT_NE(narrow.find("#wrong       time   algbw   busbw #wrong"), std::string::npos);
  EXPECT_EQ(narrow.find('\x1b'), std::string::npos);
}

TEST(BatchText, WithoutATargetThereIsTheNoiseOnly) {
  analyzer::BatchAnalysis analysis = example_batch();
  analysis.target_loss = 0;
  const std::string text = batch_text(analysis, {});
  EXPECT_NE(text.find("Gradient noise scale"), std::string::npos);
  EXPECT_EQ(text.find("B_crit"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::reports
