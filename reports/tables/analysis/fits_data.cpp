#include <fmt/format.h>

#include "core/bounded.h"
#include "core/span_limits.h"
#include "core/text/quantity.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/analysis/columns.h"

namespace ddbench::reports {
namespace {

using analyzer::AlphaBetaRegime;
using analyzer::GroupFit;

struct FitRow {
  const GroupFit* fit;
  const AlphaBetaRegime* regime;
};

/// The interval of the bandwidth: the inverse of nanoseconds per byte, hence with swapped ends.
Measured<ConfidenceInterval> bandwidth_interval(const AlphaBetaRegime& regime) {
  if (!regime.per_byte) return Measured<ConfidenceInterval>::missing(regime.per_byte.reason());
  ConfidenceInterval interval = regime.per_byte->interval;
  if (interval.low <= 0) return Measured<ConfidenceInterval>::missing("the interval of the time per byte contains 0");
  const double low = 1e9 / interval.high;
  interval.high = 1e9 / interval.low;
  interval.low = low;
  return interval;
}

DataCell bandwidth_cell(const AlphaBetaRegime& regime) {
  if (!(regime.ns_per_byte > 0)) return missing_cell("the times do not grow with the size");
  return quantity_cell(1e9 / regime.ns_per_byte, "B/s");
}

DataCell size_cell(double bytes) { return quantity_cell(static_cast<double>(bounded(bytes, 0, kMostBytes)), "B"); }

Measured<ConfidenceInterval> latency_interval(const AlphaBetaRegime& regime) {
  return regime.latency ? Measured<ConfidenceInterval>(regime.latency->interval)
                        : Measured<ConfidenceInterval>::missing(regime.latency.reason());
}

}  // namespace

DataTable fits_data(std::span<const GroupFit> fits, const std::string& field) {
  std::vector<FitRow> rows;
  for (const GroupFit& fit : fits) {
    for (const AlphaBetaRegime& regime : fit.fit.regimes) rows.push_back({&fit, &regime});
  }
  TableOf<FitRow> table;
  table.add(true, {"function"}, [](const FitRow& row) { return code_cell(row.fit->function); });
  table.add(true, {"ranks", true}, [](const FitRow& row) { return count_cell(row.fit->ranks); });
  table.add(any_row(fits, [](const GroupFit& fit) { return !fit.variant.empty(); }), {.title = "where", .is_prose = true},
            [](const FitRow& row) { return text_cell(row.fit->variant); });
  table.add(!field.empty(), {.title = field, .is_prose = true},
            [](const FitRow& row) { return code_cell(row.fit->value.empty() ? "(none)" : row.fit->value); });
  table.add(true, {"sizes", true}, [](const FitRow& row) { return count_cell(static_cast<std::int64_t>(row.regime->sizes)); });
  table.add(true, {"from", true}, [](const FitRow& row) { return size_cell(row.regime->from_bytes); });
  table.add(true, {"to", true}, [](const FitRow& row) { return size_cell(row.regime->to_bytes); });
  table.add(true, {"latency", true}, [](const FitRow& row) { return time_cell(row.regime->latency_ns); });
  table.add(true, {"95% CI"}, [](const FitRow& row) { return interval_cell(latency_interval(*row.regime), "ns"); });
  table.add(true, {"bandwidth", true}, [](const FitRow& row) { return bandwidth_cell(*row.regime); });
  table.add(true, {"95% CI"}, [](const FitRow& row) { return interval_cell(bandwidth_interval(*row.regime), "B/s"); });
  table.add(true, {"R²", true}, [](const FitRow& row) { return value_cell(row.regime->r_squared, fmt::format("{:.4f}", row.regime->r_squared)); });
  DataTable data = std::move(table).of(rows);
  data.caption = "Latency and bandwidth";
  data.detail = "time = latency + bytes/bandwidth, by size regime";
  return data;
}

}  // namespace ddbench::reports
