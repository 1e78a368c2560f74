#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/comparison/compare_by.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

std::string nodes_label(const Offer& offer) {
  if (!offer.nodes) return gpus(offer.gpus) + (offer.sku.empty() ? "" : " of " + offer.sku);
  if (!offer.sku.empty()) return fmt::format("{} x {}", *offer.nodes, offer.sku);
  return fmt::format("{} node{}", *offer.nodes, *offer.nodes == 1 ? "" : "s");
}

/// A line through several values at one place would zigzag.
bool one_value_each(const Series& series) {
  std::set<double> places;
  return std::all_of(series.points.begin(), series.points.end(),
                     [&places](const Point& point) { return places.insert(point.x).second; });
}

}  // namespace

std::vector<Offer> offers_of(const GroupComparison& comparison) {
  std::vector<Offer> offers;
  std::map<std::pair<std::string, int>, std::set<int>> sizes;  // GPUs by value and nodes
  for (const GroupRow& row : comparison.rows) sizes[{row.value, row.run_case.nodes}].insert(row.world_size);
  for (const GroupRow& row : comparison.rows) {
    if (!row.without_samples.empty()) continue;
    Offer offer;
    offer.sku = row.run_case.sku;
    offer.nodes = nodes_to_rent(row.run_case);
    offer.gpus = row.world_size;
    offer.label = nodes_label(offer);
    if (offer.nodes && sizes[{row.value, *offer.nodes}].size() > 1) offer.label += ", " + gpus(offer.gpus);
    offer.settings = row.variant;
    if (comparison.field != "sku") offer.label += fmt::format(", {} {}", comparison.field, row.value.empty() ? "(none)" : row.value);
    offer.samples_per_s = row.samples_per_s;
    if (const auto mean = mean_of_runs(row.run_samples_per_s)) offer.interval = mean->interval;
    offer.rate_without_checkpoints = rate_without_checkpoints(row.step_time_ns.value_or(0), row.checkpoint_ns);
    offer.provenance = row.provenance;
    offers.push_back(std::move(offer));
  }
  return offers;
}

Figure throughput_figure(const GroupComparison& comparison) {
  Figure figure;
  figure.title = fmt::format("Throughput by {}", comparison.field);
  figure.x = {"GPUs", "1", true};
  const bool in_steps = std::any_of(comparison.rows.begin(), comparison.rows.end(),
                                    [](const GroupRow& row) { return !row.without_samples.empty(); });
  figure.y = {"throughput", in_steps ? "steps/s" : "samples/s", true};
  figure.notes = comparison.notes;
  for (const std::string& value : comparison.values) {
    Series series{value.empty() ? "(none)" : value, SeriesShape::kPoints, {}, {}};
    for (const GroupRow& row : comparison.rows) {
      if (row.value != value || (in_steps && !row.step_time_ns)) continue;
      series.points.push_back(
          {static_cast<double>(row.world_size), in_steps ? 1e9 / *row.step_time_ns : row.samples_per_s, {},
           shape_label(row.run_case)});
      series.provenance = ProvenanceSet::from_bits(series.provenance.bits() | row.provenance.bits());
    }
    if (one_value_each(series)) series.shape = SeriesShape::kLine;
    figure.series.push_back(std::move(series));
  }
  return figure;
}

Figure bus_bandwidth_figure(const GroupComparison& comparison) {
  Figure figure;
  figure.title = fmt::format("Bus bandwidth by {}", comparison.field);
  figure.x = {"size", "B", true};
  figure.y = {"bus bandwidth", "B/s", true};
  figure.notes = comparison.notes;
  std::map<std::string, Series> series;
  for (const GroupCollective& collective : comparison.collectives) {
    if (!collective.busbw_gb_per_s || collective.bytes == 0) continue;
    const std::string variant = collective.variant.empty() ? "" : collective.variant + ", ";
    const std::string name = fmt::format("{} on {} ranks, {}{}", collective.function, collective.ranks, variant,
                                         collective.value.empty() ? "(none)" : collective.value);
    Series& own = series[name];
    own.name = name;
    own.shape = SeriesShape::kPoints;
    own.provenance = ProvenanceSet::from_bits(own.provenance.bits() | collective.provenance.bits());
    own.points.push_back({static_cast<double>(collective.bytes), *collective.busbw_gb_per_s * 1e9, {}, {}});
  }
  for (auto& [name, own] : series) {
    if (one_value_each(own)) own.shape = SeriesShape::kLine;
    figure.series.push_back(std::move(own));
  }
  if (figure.series.empty()) figure.notes.push_back("no collectives are stored with these runs");
  return figure;
}

}  // namespace ddbench::analyzer
