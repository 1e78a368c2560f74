#include "analyzer/comparison/collective_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/collectives/bus_factor.h"
#include "analyzer/comparison/collective_world.h"
#include "analyzer/run/run_fields.h"
#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kLeastSizes = 3;
constexpr int kFitPoints = 33;

using Sizes = std::map<double, std::vector<double>>;

struct MeasuredSizes {
  Sizes sizes;
  ProvenanceSet provenance;
};
using SizesOfWorlds = std::map<CollectiveWorld, MeasuredSizes>;

void add(SizesOfWorlds& worlds, const store::RunRecord& run, const CollectiveWorld& world, double bytes,
         double time_ns) {
  if (!(bytes > 0) || !(time_ns > 0)) return;
  MeasuredSizes& measured = worlds[world];
  measured.sizes[bytes].push_back(time_ns);
  measured.provenance = ProvenanceSet::from_bits(measured.provenance.bits() | run.provenance.bits());
}

void add_micro(SizesOfWorlds& worlds, const MicroTable& table) {
  for (const MicroRow& row : table.rows) {
    if (!is_collective(row.operation)) continue;
    const std::string function(to_string(row.operation));
    add(worlds, table.run, collective_world(table.run, function, {.ranks = table.ranks}),
        static_cast<double>(row.bytes), row.usual().time_ns);
  }
}

std::vector<CollectiveCurve> curves_of(SizesOfWorlds worlds) {
  std::vector<CollectiveWorld> keys;
  for (const auto& [world, measured] : worlds) keys.push_back(world);
  const std::vector<std::string> labels = labels_of_worlds(keys);
  std::vector<CollectiveCurve> curves;
  for (auto& [world, measured] : worlds) {
    CollectiveCurve curve{labels[curves.size()], world.function, world.ranks, {}, {}, measured.provenance};
    for (auto& [bytes, times] : measured.sizes) curve.points.push_back({"", bytes, std::move(times)});
    if (curve.points.size() >= kLeastSizes && curve.ranks > 1)
      curve.fits = fit_alpha_beta(curve.points, curve.ranks);
    curves.push_back(std::move(curve));
  }
  std::stable_sort(curves.begin(), curves.end(),
                   [](const auto& a, const auto& b) { return a.label < b.label; });
  return curves;
}

Measured<double> only_ceiling(const std::set<std::string>& links) {
  if (links.empty()) return Measured<double>::missing("no run was made over a link of a stated rate");
  if (links.size() > 1) return Measured<double>::missing("the runs were made over links of several rates");
  return link_gb_per_s(*links.begin());
}

/// Missing for functions without one (barrier, send).
Measured<double> known_bus_factor(const CollectiveCurve& curve) {
  if (curve.ranks == 0) return Measured<double>::missing("the size of the communicator is not known");
  if (curve.ranks < 2) return Measured<double>::missing("one rank");
  try {
    return bus_factor(curve.function, curve.ranks);
  } catch (const Error& error) {
    return Measured<double>::missing(error.message());
  }
}

void drop_common_function(std::vector<CollectiveCurve>& curves) {
  if (curves.empty() || std::any_of(curves.begin(), curves.end(), [&](const CollectiveCurve& curve) {
        return curve.function != curves.front().function;
      })) {
    return;
  }
  for (CollectiveCurve& curve : curves) curve.label.erase(0, curve.function.size() + 2);
}

std::string title_of(const CollectiveCurves& curves, const char* title) {
  if (curves.curves.empty() || curves.curves.front().label.rfind(curves.curves.front().function, 0) == 0)
    return title;
  return fmt::format("{} of {}", title, curves.curves.front().function);
}

double geometric_mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Figure size_figure(const CollectiveCurves& curves, const char* title, Axis y) {
  Figure figure;
  figure.title = title_of(curves, title);
  figure.x = {"size", "B", true};
  figure.y = std::move(y);
  figure.notes = curves.notes;
  if (curves.curves.empty()) figure.notes.insert(figure.notes.begin(), "no collectives were recorded");
  return figure;
}

Series fitted_series(const CollectiveCurve& curve, const AlphaBetaFit& fit) {
  Series series{curve.label + ": α–β fit", SeriesShape::kLine, {}, {Provenance::kPredicted}};
  for (const AlphaBetaRegime& regime : fit.regimes) {
    for (int i = 0; i < kFitPoints; ++i) {
      const double bytes = regime.from_bytes * std::pow(regime.to_bytes / regime.from_bytes,
                                                        static_cast<double>(i) / (kFitPoints - 1));
      series.points.push_back({bytes, regime.latency_ns + bytes * regime.ns_per_byte, {}, {}});
    }
  }
  return series;
}

}  // namespace

Measured<double> link_gb_per_s(const std::string& link) {
  const auto [rate, unit] = leading_number<double>(link).value_or(LeadingNumber<double>{});
  const double bits = unit == "kbit" ? 1e3 : unit == "mbit" ? 1e6 : unit == "gbit" ? 1e9 : 0;
  if (bits == 0 || !(rate > 0)) {
    return Measured<double>::missing(fmt::format("\"{}\" is no rate", link));
  }
  return rate * bits / 8e9;
}

CollectiveCurves collective_curves(std::span<const RunSummary> runs, std::span<const MicroTable> micro) {
  SizesOfWorlds worlds;
  std::set<std::string> links;
  const auto note_link = [&](const store::RunRecord& run) {
    if (applies(run, "link") && !run.run_case.link.empty()) links.insert(run.run_case.link);
  };
  for (const RunSummary& summary : runs) {
    if (summary.run.run_case.world_size() < 2) continue;  // nothing is sent
    note_link(summary.run);
    for (const SizedTransfer& transfer : sized_transfers(summary))
      add(worlds, summary.run, transfer.world, static_cast<double>(transfer.bytes), transfer.transfer_ns);
  }
  for (const MicroTable& table : micro) {
    note_link(table.run);
    add_micro(worlds, table);
  }
  CollectiveCurves result;
  result.link_ceiling_gb_per_s = only_ceiling(links);
  result.curves = curves_of(std::move(worlds));
  drop_common_function(result.curves);
  const bool any_fit = std::any_of(result.curves.begin(), result.curves.end(),
                                   [](const CollectiveCurve& c) { return !c.fits.empty(); });
  if (!any_fit && !result.curves.empty()) {
    result.notes.push_back(
        "no α–β fit: that takes three sizes of one collective or more; `ddbench micro` measures many");
  }
  return result;
}

Figure collective_time_figure(const CollectiveCurves& curves) {
  Figure figure = size_figure(curves, "Transfer time over size", {"transfer time", "ns", true});
  std::vector<Series> fits;
  for (const CollectiveCurve& curve : curves.curves) {
    Series series{curve.label, SeriesShape::kPoints, {}, curve.provenance};
    for (const TimedSize& point : curve.points) {
      series.points.push_back({point.bytes, geometric_mean_of(point.time_ns), {}, {}});
    }
    figure.series.push_back(std::move(series));
    for (const AlphaBetaFit& fit : curve.fits) {
      if (!fit.regimes.empty()) fits.push_back(fitted_series(curve, fit));
      for (const std::string& note : fit.notes) figure.notes.push_back(curve.label + ": " + note);
    }
  }
  std::move(fits.begin(), fits.end(), std::back_inserter(figure.series));
  return figure;
}

Figure collective_bandwidth_figure(const CollectiveCurves& curves) {
  Figure figure = size_figure(curves, "Bus bandwidth over size", {"bus bandwidth", "B/s", true});
  double smallest = 0;
  double largest = 0;
  for (const CollectiveCurve& curve : curves.curves) {
    Series series{curve.label, SeriesShape::kLine, {}, curve.provenance};
    const Measured<double> factor = known_bus_factor(curve);
    if (!factor) {
      figure.notes.push_back(curve.label + " is left out: " + factor.reason());
      continue;
    }
    for (const TimedSize& point : curve.points) {
      const double per_s = point.bytes / geometric_mean_of(point.time_ns) * 1e9;
      series.points.push_back({point.bytes, per_s * *factor, {}, {}});
      smallest = smallest == 0 ? point.bytes : std::min(smallest, point.bytes);
      largest = std::max(largest, point.bytes);
    }
    figure.series.push_back(std::move(series));
  }
  if (!curves.link_ceiling_gb_per_s) {
    if (!curves.curves.empty())
      figure.notes.push_back("no ceiling drawn: " + curves.link_ceiling_gb_per_s.reason());
    return figure;
  }
  const double ceiling = *curves.link_ceiling_gb_per_s * 1e9;
  figure.series.push_back({"link ceiling", SeriesShape::kLine, {}, {}});
  for (const double bytes : {smallest * 0.7, largest * 1.4})
    figure.series.back().points.push_back({bytes, ceiling, {}, {}});
  return figure;
}

}  // namespace ddbench::analyzer
