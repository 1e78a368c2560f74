#include "analyzer/cost/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr double kMillion = 1e6;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

void require_positive(const char* what, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{} is {}, but it must be above 0", what, value));
}

void check(std::span<const Offer> offers, const CostOptions& options) {
  for (const Offer& offer : offers) {
    require_positive(fmt::format("the throughput of {}", offer.label).c_str(), offer.samples_per_s);
    if (offer.nodes) require_positive(fmt::format("the number of nodes of {}", offer.label).c_str(), *offer.nodes);
  }
  if (options.samples_per_epoch) require_positive("--epoch-samples", *options.samples_per_epoch);
  if (options.samples_total) require_positive("the number of samples", *options.samples_total);
  if (options.deadline_h) require_positive("--deadline", *options.deadline_h);
  if (!(options.node_mtbf_h >= 0)) require_positive("--node-mtbf-h", options.node_mtbf_h);
}

std::string note_on_price(const Sku& sku) {
  std::string note = source_in_words(sku.price_source);
  if (!sku.source.verified && !sku.source.name.empty())
    note += note.empty() ? "unverified" : "; SKU unverified";
  return note;
}

Interruptions interruptions_of(double per_node_h, const Offer& offer, const CostOptions& options) {
  return {per_node_h > 0 ? 1 / (per_node_h * *offer.nodes) : 0, options.checkpoint_s, options.restart_s};
}

/// Expected time of the job over samples / samples_per_s.
double time_factor(const CostRow& row) {
  return row.checkpoints.interval_s > 0 ? row.checkpoints.time_factor / row.offer.rate_without_checkpoints : 1;
}

using Interval = Measured<ConfidenceInterval>;

Interval divided_by(double amount, const std::optional<ConfidenceInterval>& rate) {
  if (!rate || !(rate->low > 0)) return Interval::missing("the throughput has no interval: it needs 3 runs (--repeat 3)");
  ConfidenceInterval result = *rate;
  result.low = amount / rate->high;
  result.high = amount / rate->low;
  return result;
}

Quantity per_million(const CostRow& row) {
  const double factor = *row.usd_per_h * time_factor(row) / kSecondsAnHour * kMillion;
  return {factor / row.offer.samples_per_s, divided_by(factor, row.offer.interval)};
}

void add_intervals(CostRow& row, const CostOptions& options) {
  if (!row.hours) {
    row.hours_interval = row.usd_interval = Interval::missing(row.hours.reason());
    return;
  }
  const double amount_h = *options.samples_total * time_factor(row) / kSecondsAnHour;
  row.hours_interval = divided_by(amount_h, row.offer.interval);
  row.usd_interval = row.usd ? divided_by(amount_h * *row.usd_per_h, row.offer.interval) : Interval::missing(row.usd.reason());
}

/// What follows from the price of an hour and the plan of checkpoints. `unplanned`: why there is no such plan.
void add_costs(CostRow& row, const CostOptions& options, std::string unplanned = {}) {
  if (unplanned.empty() && !std::isfinite(time_factor(row))) {
    unplanned = "interrupted so often that training does not get on";
    row.usd_per_h = Measured<double>::missing(unplanned);
  }
  row.unplanned = unplanned;
  if (options.samples_total && unplanned.empty()) {
    row.hours = *options.samples_total / row.offer.samples_per_s / kSecondsAnHour * time_factor(row);
    row.meets_deadline = !options.deadline_h || *row.hours <= *options.deadline_h;
  } else {
    row.hours = Measured<double>::missing(options.samples_total ? unplanned : options.samples_total.reason());
    row.meets_deadline = !(options.samples_total && options.deadline_h);  // without hours, nothing is promised
  }
  if (!row.usd_per_h) {
    row.usd_per_million_samples = Measured<Quantity>::missing(row.usd_per_h.reason());
    row.usd_per_epoch = row.usd = Measured<double>::missing(row.usd_per_h.reason());
    add_intervals(row, options);
    return;
  }
  row.usd_per_million_samples = per_million(row);
  row.usd_per_epoch =
      options.samples_per_epoch
          ? Measured<double>(row.usd_per_million_samples->value * *options.samples_per_epoch / kMillion)
          : Measured<double>::missing(options.samples_per_epoch.reason());
  row.usd = row.hours ? Measured<double>(*row.hours * *row.usd_per_h)
                      : Measured<double>::missing(row.hours.reason());
  add_intervals(row, options);
}

CostRow on_demand(const Offer& offer, const Sku* sku, const CostOptions& options) {
  CostRow row;
  row.offer = offer;
  if (offer.sku.empty()) {
    row.usd_per_h = Measured<double>::missing("the runs name no SKU (--sku)");
  } else if (sku == nullptr) {
    row.usd_per_h = Measured<double>::missing(fmt::format(
        "the SKU \"{}\" is not in the catalogue: give --price {}=USD_PER_HOUR", offer.sku, offer.sku));
  } else if (!sku->price_usd_per_h) {
    row.usd_per_h = Measured<double>::missing(sku->price_usd_per_h.reason());
  } else if (!offer.nodes) {
    row.usd_per_h = Measured<double>::missing(offer.nodes.reason());
  } else {
    row.usd_per_h = *sku->price_usd_per_h * *offer.nodes;
    row.price_note = note_on_price(*sku);
  }
  const double per_node_h = options.node_mtbf_h > 0 ? 1 / options.node_mtbf_h : 0;
  const bool is_planned = per_node_h == 0 || offer.nodes;
  if (is_planned) row.checkpoints = plan_checkpoints(interruptions_of(per_node_h, offer, options));
  add_costs(row, options, is_planned ? "" : offer.nodes.reason());
  return row;
}

CostRow on_spot(const Offer& offer, const Sku& sku, const CostOptions& options) {
  CostRow row;
  row.offer = offer;
  row.offer.label += " spot";
  row.spot = true;
  row.is_assumed = sku.spot_is_assumed();
  row.price_note = source_in_words(sku.spot_source);
  std::string unplanned;
  if (!offer.nodes) {
    unplanned = offer.nodes.reason();
    row.usd_per_h = Measured<double>::missing(unplanned);
  } else if (sku.preemptions_per_h) {
    row.price_note += fmt::format("{}{:g} preemptions a node and hour{}", row.price_note.empty() ? "" : "; ", *sku.preemptions_per_h,
                                  sku.spot_source.verified && !sku.rate_is_stated ? " (assumed)" : "");
    row.usd_per_h = *sku.spot_price_usd_per_h * *offer.nodes;
    const double failures_per_h = options.node_mtbf_h > 0 ? 1 / options.node_mtbf_h : 0;
    row.checkpoints =
        plan_checkpoints(interruptions_of(*sku.preemptions_per_h + failures_per_h, offer, options));
  } else {
    unplanned = fmt::format("spot preemption rate unknown: give --price {}=...,preemptions=PER_HOUR", sku.name);
    row.usd_per_h = Measured<double>::missing(unplanned);
  }
  add_costs(row, options, unplanned);
  return row;
}

/// The position of a row: time and money, or their substitutes without an amount of samples. Infinite: no
/// position.
Point place_of(const CostRow& row) {
  const std::string name = row.offer.label + (row.offer.settings.empty() ? "" : ", ") + row.offer.settings;
  if (!row.usd_per_million_samples) return {kInfinite, kInfinite, {}, name};
  if (row.usd) return {*row.hours, *row.usd, {}, name};
  return {time_factor(row) * kMillion / row.offer.samples_per_s / kSecondsAnHour,
          row.usd_per_million_samples->value,
          {},
          name};
}

void mark_front(std::vector<CostRow>& rows) {
  for (CostRow& row : rows) {
    const Point own = place_of(row);
    row.on_front = std::isfinite(own.y) && std::none_of(rows.begin(), rows.end(), [&](const CostRow& other) {
                     const Point theirs = place_of(other);
                     return theirs.x <= own.x && theirs.y <= own.y && (theirs.x < own.x || theirs.y < own.y);
                   });
  }
}

void add_notes(const CostOptions& options, CostTable& table) {
  bool unverified = false;
  bool imported_or_emulated = false;
  for (const CostRow& row : table.rows) {
    unverified |= row.price_note.find("unverified") != std::string::npos;
    imported_or_emulated |= !(row.offer.provenance == ProvenanceSet{Provenance::kMeasured});
  }
  if (unverified)
    table.notes.push_back(
        "some SKUs are marked unverified: their figures were not found in a source that could be read");
  if (imported_or_emulated)
    table.notes.push_back("not all throughputs are measured ones: see the provenance of each row");
  if (std::any_of(table.rows.begin(), table.rows.end(), [](const CostRow& row) { return row.checkpoints.interval_s > 0; })) {
    table.notes.push_back(fmt::format(
        "hours hold checkpoints of {:.3g} s ({}; --checkpoint-s), restarts of {:.3g} s (--restart-s) and lost work, with checkpoints at Daly's interval",
        options.checkpoint_s, options.checkpoint_source, options.restart_s));
  }
  if (std::any_of(table.rows.begin(), table.rows.end(), [](const CostRow& row) { return row.offer.rate_without_checkpoints > 1; }))
    table.notes.push_back(
        "the runs wrote checkpoints: hours with a plan of checkpoints hold those of the plan instead, other hours those of the runs");
  table.notes.push_back(
      "prices are those of the catalogue's sources and dates; override them with --price or --skus");
  if (std::any_of(table.rows.begin(), table.rows.end(), [](const CostRow& row) { return row.is_assumed; }))
    table.notes.push_back(
        "the catalogue's spot prices and preemption rates are assumptions, and never the cheapest in time: state them with --price "
        "NAME=USD,spot=USD,preemptions=PER_HOUR");
  if (options.deadline_h && options.samples_total && table.cheapest_in_time < 0) {
    table.notes.push_back(
        fmt::format("nothing with a price meets the deadline of {} h", *options.deadline_h));
  }
}

}  // namespace

double rate_without_checkpoints(double step_time_ns, double checkpoint_ns) {
  return checkpoint_ns < step_time_ns ? step_time_ns / (step_time_ns - checkpoint_ns) : 1;
}

Measured<int> nodes_to_rent(const RunCase& run_case) {
  if (!run_case.nodes_not_stated) return run_case.nodes;
  return Measured<int>::missing(kNodesNotStated);
}

CostTable cost_table(std::span<const Offer> offers, const SkuCatalogue& catalogue,
                     const CostOptions& options) {
  check(offers, options);
  CostTable table;
  for (const Offer& offer : offers) {
    const Sku* sku = catalogue.find_sku(offer.sku);
    table.rows.push_back(on_demand(offer, sku, options));
    if (sku != nullptr && sku->spot_price_usd_per_h) table.rows.push_back(on_spot(offer, *sku, options));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const CostRow& a, const CostRow& b) {
    const double cost_a = a.usd_per_million_samples ? a.usd_per_million_samples->value : kInfinite;
    const double cost_b = b.usd_per_million_samples ? b.usd_per_million_samples->value : kInfinite;
    return cost_a < cost_b;
  });
  mark_front(table.rows);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CostRow& row = table.rows[i];
    if (!options.deadline_h || !row.usd || !row.meets_deadline || row.is_assumed) continue;
    if (table.cheapest_in_time < 0 ||
        *row.usd < *table.rows[static_cast<std::size_t>(table.cheapest_in_time)].usd) {
      table.cheapest_in_time = static_cast<int>(i);
    }
  }
  add_notes(options, table);
  return table;
}

Figure cost_figure(const CostTable& table) {
  const bool whole_job =
      std::any_of(table.rows.begin(), table.rows.end(), [](const CostRow& row) { return bool(row.usd); });
  Figure figure;
  figure.title = whole_job ? "Cost over time to train" : "Cost over time of a million samples";
  figure.x = {"time", "h", true};
  figure.y = {"cost", "USD", true};
  figure.notes = table.notes;
  Series all{"offers", SeriesShape::kPoints, {}, {}};
  Series front{"Pareto front", SeriesShape::kLine, {}, {}};
  for (const CostRow& row : table.rows) {
    Point point = place_of(row);
    if (!std::isfinite(point.y)) continue;
    if (const auto& interval = row.usd_per_million_samples->interval; !whole_job && interval) point.interval = *interval;
    all.provenance = ProvenanceSet::from_bits(all.provenance.bits() | row.offer.provenance.bits());
    if (row.on_front) front.points.push_back(point);
    all.points.push_back(std::move(point));
  }
  std::sort(front.points.begin(), front.points.end(),
            [](const Point& a, const Point& b) { return a.x < b.x; });
  figure.series = {std::move(all), std::move(front)};
  return figure;
}

}  // namespace ddbench::analyzer
