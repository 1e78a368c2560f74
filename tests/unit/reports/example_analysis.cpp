#include "example_analysis.h"

namespace ddbench::reports {
namespace {

using analyzer::Estimate;
using analyzer::Quantity;
using analyzer::RunRatio;

const ProvenanceSet kMeasured{Provenance::kMeasured};

ConfidenceInterval interval(double low, double high) {
  return {low, high, 0.95, "Student's t over 3 runs"};
}

Measured<RunRatio> ratio(double value, double low, double high) {
  return RunRatio{value, interval(low, high)};
}

RunCase sized(int nodes, int gpus_per_node, const char* sku) {
  RunCase run_case;
  run_case.nodes = nodes;
  run_case.gpus_per_node = gpus_per_node;
  run_case.sku = sku;
  return run_case;
}

analyzer::CurveRow curve_row(int nodes, int gpus_per_node, double step_ns, double speedup) {
  analyzer::CurveRow row;
  row.run_case = sized(nodes, gpus_per_node, "");
  row.run_case.scaling = ScalingMode::kStrong;
  row.world_size = row.run_case.world_size();
  row.runs = {"20261121T00000" + std::to_string(row.world_size) + "-0a0b0c0d"};
  row.samples_per_s = 64e9 / step_ns;
  row.step_time_ns = analyzer::Quantity{step_ns, interval(step_ns * 0.99, step_ns * 1.01)};
  row.speedup = speedup;
  row.efficiency = speedup / row.world_size;
  row.exposed_share = row.world_size == 1 ? 0.0 : 0.125;
  row.utilisation.mfu = 0.41;
  row.utilisation.hfu = 0.43;
  row.measured_share = 0.875;
  row.provenance = kMeasured;
  return row;
}

analyzer::Straggler straggler(int rank, int node, const char* host, double share, double cost_ns) {
  return {rank, node, host, 40, share, 250'000, cost_ns};
}

analyzer::StragglerReport stragglers() {
  analyzer::StragglerReport report;
  report.run = "20261121T000004-0a0b0c0d";
  report.collectives = 80;
  report.unresolved = 4;
  report.steps = 20;
  report.mean_step_ns = 30'000'000;
  report.ranks = {straggler(3, 1, "node-1", 0.75, 1'500'000), straggler(0, 0, "node-0", 0.25, 100'000)};
  report.nodes = {straggler(-1, 1, "node-1", 0.75, 1'500'000), straggler(-1, 0, "node-0", 0.25, 100'000)};
  report.notes = {"rank 3 on node-1 arrives last at 75% of collectives"};
  return report;
}

analyzer::ModelChoice law() {
  analyzer::ModelChoice choice;
  choice.best.model = analyzer::ScalingModel::kAmdahl;
  choice.best.parameters = {{"lambda", "samples/s", 1000, interval(990, 1010)},
                            {"serial fraction", "1", 0.05, {}}};
  choice.best.rms_error = 0.0125;
  choice.best.fit.degrees_of_freedom = 5;
  choice.candidates = {{analyzer::ScalingModel::kAmdahl, 0.02},
                       {analyzer::ScalingModel::kUsl, Measured<double>::missing("needs 4 or more scales")}};
  choice.badly_fitted_n = {4};
  choice.notes = {"4 GPUs fit badly: amdahl does not describe them within their noise"};
  return choice;
}

analyzer::ComparedFigure figure(const char* name, const char* unit, double a, double b) {
  return {name, unit, a, b, ratio(b / a, 0.9 * b / a, 1.1 * b / a)};
}

analyzer::GroupRow group_row(const char* sku, double samples_per_s, bool reference) {
  analyzer::GroupRow row;
  row.run_case = sized(2, 8, sku);
  row.world_size = 16;
  row.value = sku;
  row.variant = "precision=bf16";
  row.runs = {"20261121T000004-0a0b0c0d", "20261121T000005-0a0b0c0d"};
  row.samples_per_s = samples_per_s;
  row.step_time_ns = 1024e9 / samples_per_s;
  row.exposed_ns = 2'000'000.0;
  row.exposed_share = 0.0625;
  if (!reference) row.against_reference = ratio(samples_per_s / 8000, 1.2, 1.3);
  row.provenance = {Provenance::kMeasured, Provenance::kImported};
  return row;
}

analyzer::CostRow cost_row(const char* label, double usd_per_h, double usd, double hours) {
  analyzer::CostRow row;
  row.offer.label = label;
  row.offer.sku = "p4d.24xlarge";
  row.offer.nodes = 2;
  row.offer.samples_per_s = 8000;
  row.offer.provenance = kMeasured;
  row.usd_per_h = usd_per_h;
  row.usd_per_million_samples = Quantity{1.5, interval(1.45, 1.55)};
  row.usd_per_epoch = 1.92;
  row.hours = hours;
  row.usd = usd;
  row.on_front = true;
  row.price_note = "receipts, 2026-11-09; SKU unverified";
  return row;
}

}  // namespace

analyzer::ScalingCurve example_curve() {
  analyzer::ScalingCurve curve;
  curve.mode = ScalingMode::kStrong;
  curve.baseline = "1 GPU (run 20261121T000001-0a0b0c0d and 2 more)";
  curve.rows = {curve_row(1, 1, 64'000'000, 1), curve_row(2, 2, 20'000'000, 3.2)};
  curve.rows[0].is_baseline = true;
  curve.rows[0].speedup_interval = Measured<ConfidenceInterval>::missing("the baseline itself");
  curve.rows[0].loss_intervals = Measured<analyzer::LossIntervals>::missing("the baseline itself");
  curve.rows[0].efficiency_interval = Measured<ConfidenceInterval>::missing("the baseline itself");
  curve.rows[0].serial_fraction = Measured<Metric>::missing("the baseline itself");
  analyzer::CurveRow& four = curve.rows[1];
  four.efficiency_interval = interval(0.78, 0.82);
  four.speedup_interval = interval(3.12, 3.28);
  four.serial_fraction = Metric{"serial fraction", "1", 0.0833, interval(0.07, 0.09)};
  four.lost_ns = 4'000'000;
  store::StepPartition lost;
  lost[store::StepPart::kBackward] = -500'000;
  lost[store::StepPart::kExposedTransfer] = 3'500'000;
  lost[store::StepPart::kExposedPeerWait] = 1'000'000;
  four.waterfall = lost;
  analyzer::LossIntervals losses;
  for (std::size_t part = 0; part < losses.parts.size(); ++part) {
    const auto lost_ns = static_cast<double>(lost.ns[part]);
    losses.parts[part] = interval(lost_ns - 50'000, lost_ns + 50'000);
  }
  losses.lost = interval(3'800'000, 4'200'000);
  four.loss_intervals = losses;
  curve.model = law();
  curve.predictions = {{8, 5800, Measured<Estimate>(Estimate{5800, interval(5600, 6000)}), false},
                       {64, 15000, Measured<Estimate>::missing("not bounded"), true}};
  curve.stragglers = stragglers();
  curve.notes = {"run 20261121T000009-0a0b0c0d is left out: failed: rank 1 was killed"};
  return curve;
}

analyzer::Comparison example_comparison() {
  analyzer::Comparison comparison;
  store::RunRecord run;
  run.id = "20261121T000004-0a0b0c0d";
  run.run_case = sized(2, 2, "");
  run.provenance = kMeasured;
  comparison.a = {"run 20261121T000004-0a0b0c0d", {run}};
  run.id = "20261121T000005-0a0b0c0d";
  comparison.b = {"runs with link=\x1b[31m100mbit", {run, run}};
  comparison.verdict = analyzer::ComparisonVerdict::kOneChange;
  comparison.verdict_text = "one change: link";
  comparison.differences = {{"link", FieldRole::kPlace, "", "100mbit"},
                            {"fact kernel", FieldRole::kEnvironment, "6.1.0", "6.5.0"},
                            {"network", FieldRole::kConsequence, "veth", "veth@100mbit"}};
  comparison.figures = {figure("step time", "ns", 20e6, 50e6), figure("peak memory", "bytes", 1e9, 1e9)};
  comparison.figures.push_back({"last loss", "1", 0.5, Measured<double>::missing("no loss recorded"),
                                Measured<RunRatio>::missing("not above 0 on both sides")});
  comparison.parts = {figure("exposed_transfer", "ns", 2e6, 32e6)};
  comparison.collectives = {figure("all_reduce bucket 0, 1.05 MB", "ns", 8e6, 80e6)};
  comparison.kernels = {figure("linear (forward)", "ns", 4e6, 4e6)};
  comparison.notes = {"1 and 2 run(s): an interval over runs needs 3 or more each (--repeat 3)"};
  return comparison;
}

analyzer::GroupComparison example_groups() {
  analyzer::GroupComparison groups;
  groups.field = "sku";
  groups.values = {"p4d.24xlarge", "p5.48xlarge"};
  groups.rows = {group_row("p4d.24xlarge", 8000, true), group_row("p5.48xlarge", 10000, false)};
  groups.rows[1].efficiency = 0.93;
  groups.collectives = {{"all_reduce",
                         1 << 20,
                         16,
                         "p4d.24xlarge",
                         100'000,
                         19.66,
                         Measured<RunRatio>::missing("the reference"),
                         {Provenance::kMeasured}},
                        {"all_reduce",
                         1 << 20,
                         16,
                         "p5.48xlarge",
                         50'000,
                         Measured<double>::missing("no bus factor"),
                         ratio(0.5, 0.48, 0.52),
                         {Provenance::kMeasured}}};
  analyzer::GroupFit fit{"all_reduce", 16, "p5.48xlarge", {}};
  analyzer::AlphaBetaRegime regime;
  regime.from_bytes = 1024;
  regime.to_bytes = 1 << 30;
  regime.sizes = 21;
  regime.latency_ns = 30'000;
  regime.ns_per_byte = 0.005;
  regime.latency = Estimate{30'000, interval(28'000, 32'000)};
  regime.per_byte = Estimate{0.005, interval(0.0049, 0.0051)};
  regime.r_squared = 0.9995;
  regime.rms_error = 0.02;
  fit.fit.regimes = {regime};
  groups.fits = {fit};
  groups.notes = {"provenances are mixed: see the column of each row"};
  return groups;
}

analyzer::CostTable example_costs() {
  analyzer::CostTable costs;
  costs.rows = {cost_row("2 x p4d.24xlarge spot", 13.5, 470, 34.75),
                cost_row("2 x p4d.24xlarge", 43.92, 1525, 34.5)};
  costs.rows[0].spot = true;
  costs.rows[0].checkpoints = {1800, 1.0625};
  analyzer::CostRow unknown = cost_row("2 x moon", 0, 0, 34.5);
  unknown.usd_per_h = unknown.usd_per_epoch = unknown.usd =
      Measured<double>::missing("the SKU \"moon\" is not in the catalogue");
  unknown.usd_per_million_samples = Measured<Quantity>::missing("the SKU \"moon\" is not in the catalogue");
  unknown.on_front = false;
  costs.rows.push_back(unknown);
  costs.cheapest_in_time = 0;
  costs.notes = {
      "prices are those of the catalogue's sources and dates; override them with --price or --skus"};
  return costs;
}

}  // namespace ddbench::reports
