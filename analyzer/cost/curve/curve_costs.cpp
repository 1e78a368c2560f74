#include "analyzer/cost/curve/curve_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/rate/checkpoint_times.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr int kMostNodesOverMeasured = 16;
constexpr int kMostNodes = 1024;

std::string in_gpus(int gpus) {
  return fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s");
}

/// "2 x 8 GPUs", "2 x ND96, 16 GPUs": a node of which the ranks take fewer GPUs is rented with all of them.
std::string label_of(const Measured<int>& nodes, int gpus, const std::string& sku) {
  if (!nodes) return sku.empty() ? in_gpus(gpus) : fmt::format("{} of {}", in_gpus(gpus), sku);
  return sku.empty() ? fmt::format("{} x {}", *nodes, in_gpus(gpus / *nodes)) : fmt::format("{} x {}, {}", *nodes, sku, in_gpus(gpus));
}

Offer offer_of(const CurveRow& row) {
  Offer offer;
  offer.sku = row.run_case.sku;
  offer.nodes = nodes_to_rent(row.run_case);
  offer.gpus = row.world_size;
  offer.label = label_of(offer.nodes, offer.gpus, offer.sku);
  offer.samples_per_s = row.samples_per_s;
  if (const auto mean = mean_of_runs(row.run_samples_per_s)) offer.interval = mean->interval;
  offer.rate_without_checkpoints = rate_without_checkpoints(row.step_time_ns.value_or({}).value, row.checkpoint_ns);
  offer.provenance = row.provenance;
  return offer;
}

/// What is rented for a predicted size. Predicted as one tier, its GPUs stand in one node, and are rented in nodes like the largest runs'.
Measured<int> nodes_of(const ClusterShape& shape, const RunCase& largest) {
  if (shape.nodes_not_stated) return Measured<int>::missing(kNodesNotStated);
  if (shape.nodes > 1 || largest.nodes_not_stated) return shape.nodes;
  return (shape.gpus_per_node + largest.gpus_per_node - 1) / largest.gpus_per_node;
}

Offer offer_of(const Prediction& prediction, const CurveRow& largest) {
  Offer offer;
  offer.sku = largest.run_case.sku;
  offer.nodes = nodes_of(prediction.shape, largest.run_case);
  offer.gpus = static_cast<int>(prediction.n);
  offer.label = label_of(offer.nodes, offer.gpus, offer.sku);
  offer.label += prediction.extrapolated ? ", EXTRAPOLATED" : ", predicted";
  offer.samples_per_s = prediction.throughput;
  offer.rate_without_checkpoints = rate_without_checkpoints(largest.step_time_ns.value_or({}).value, largest.checkpoint_ns);
  if (prediction.interval) offer.interval = prediction.interval->interval;
  offer.provenance = {Provenance::kPredicted};
  return offer;
}

/// The offer of `nodes` nodes like those of the largest runs: measured if runs had as many, else predicted. Throws as predictions_of.
Offer offer_of_nodes(const ScalingCurve& curve, int nodes, bool one_tier) {
  const CurveRow& largest = curve.rows.back();
  const int gpus = largest.run_case.gpus_per_node;
  for (const CurveRow& row : curve.rows) {
    if (row.run_case.nodes == nodes && row.run_case.gpus_per_node == gpus && !row.run_case.nodes_not_stated) return offer_of(row);
  }
  CurveOptions options;
  options.one_tier = one_tier;
  options.predict_at = {{nodes, gpus}};
  return offer_of(predictions_of(curve, options).front(), largest);
}

CostRow on_demand_row(const Offer& offer, const SkuCatalogue& catalogue, const CostOptions& cost) {
  const CostTable table = cost_table({&offer, 1}, catalogue, cost);
  return *std::find_if(table.rows.begin(), table.rows.end(), [](const CostRow& row) { return !row.spot; });
}

std::string not_in_time(int most, double best_h, double deadline_h) {
  return fmt::format("not with up to {} nodes: the shortest time is {:.3g} h, and {:.3g} h are left", most, best_h, deadline_h);
}

}  // namespace

std::vector<Offer> offers_of(const ScalingCurve& curve) {
  std::vector<Offer> offers;
  if (!curve.counts_samples()) return offers;
  for (const CurveRow& row : curve.rows) offers.push_back(offer_of(row));
  for (const Prediction& prediction : curve.predictions) offers.push_back(offer_of(prediction, curve.rows.back()));
  return offers;
}

NodesInTime nodes_in_time(const ScalingCurve& curve, const SkuCatalogue& catalogue, const CostOptions& cost, bool one_tier) {
  NodesInTime answer;
  answer.deadline_h = *cost.deadline_h;
  const CurveRow& largest = curve.rows.back();
  std::string reason;
  if (!curve.counts_samples()) reason = "the runs do not say how many samples a step has (--batch-per-gpu)";
  if (!curve.why_not_predicted.empty()) reason = curve.why_not_predicted;
  if (const auto nodes = nodes_to_rent(largest.run_case); !nodes) reason = nodes.reason();
  const int most = reason.empty() ? std::min(kMostNodes, kMostNodesOverMeasured * largest.run_case.nodes) : 0;
  double shortest_h = 0, shortest_upper_h = 0;
  std::string no_interval;
  int tried = 0;
  for (int nodes = 1; nodes <= most && !answer.assured; ++nodes) {
    if (const int gpus = nodes * largest.run_case.gpus_per_node; curve.mode != ScalingMode::kWeak && largest.run_case.global_batch() % gpus != 0)
      continue;  // no such run: the batch cannot be divided
    std::optional<CostRow> row;
    try {
      row = on_demand_row(offer_of_nodes(curve, nodes, one_tier), catalogue, cost);
    } catch (const Error& error) {
      if (nodes < largest.run_case.nodes) continue;  // smaller than what was measured: perhaps without a path to it
      reason = error.message();
      break;
    }
    if (!row->hours) {
      reason = row->hours.reason();
      continue;
    }
    tried = nodes;
    shortest_h = shortest_h > 0 ? std::min(shortest_h, *row->hours) : *row->hours;
    if (!answer.expected && row->meets_deadline) answer.expected = *row;
    if (!row->hours_interval) {
      no_interval = row->hours_interval.reason();
      continue;
    }
    shortest_upper_h = shortest_upper_h > 0 ? std::min(shortest_upper_h, row->hours_interval->high) : row->hours_interval->high;
    if (row->hours_interval->high <= answer.deadline_h) answer.assured = *row;
  }
  const std::string more = reason.empty() ? "" : "; " + reason;
  const auto why = [&](double best_h) { return tried == 0 ? reason : not_in_time(tried, best_h, answer.deadline_h) + more; };
  if (!answer.expected) answer.expected = Measured<CostRow>::missing(why(shortest_h));
  if (!answer.assured) answer.assured = Measured<CostRow>::missing(shortest_upper_h > 0 || no_interval.empty() ? why(shortest_upper_h) : no_interval + more);
  return answer;
}

Measured<double> checkpoint_seconds(const store::RunStore& store, std::span<const store::RunRecord> runs) {
  double sum_s = 0;
  int count = 0;
  for (const store::RunRecord& run : runs) {
    if (run.run_case.checkpoint_every == 0 || run.state != store::RunState::kDone) continue;
    const auto slowest_s = checkpoint_seconds_by_step(store, run);
    for (const auto& [step, seconds] : slowest_s) sum_s += seconds;
    count += static_cast<int>(slowest_s.size());
  }
  if (count == 0) return Measured<double>::missing("no run wrote checkpoints (--checkpoint-every)");
  return sum_s / count;
}

}  // namespace ddbench::analyzer
