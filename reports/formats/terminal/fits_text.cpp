#include "reports/formats/terminal/fits_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::AlphaBetaRegime;

std::string latency_interval(const AlphaBetaRegime& regime) {
  if (!regime.latency) return "–";
  return time_in_words(regime.latency->interval.low) + " to " + time_in_words(regime.latency->interval.high);
}

std::string bandwidth_interval(const AlphaBetaRegime& regime) {
  if (!regime.per_byte || regime.per_byte->interval.low <= 0) return "–";
  return number(1 / regime.per_byte->interval.high) + " to " + number(1 / regime.per_byte->interval.low);
}

std::vector<TableColumn> columns_of(const std::string& field, bool variants) {
  std::vector<TableColumn> columns = {{"function", Align::kLeft}, {"ranks"}};
  if (variants) columns.push_back({"where", Align::kLeft, true});
  if (!field.empty()) columns.push_back({visible(field), Align::kLeft, true});
  for (TableColumn& column : std::vector<TableColumn>{{"sizes"},
                                                      {"from bytes"},
                                                      {"to bytes"},
                                                      {"latency"},
                                                      {"95% CI", Align::kLeft},
                                                      {"GB/s"},
                                                      {"95% CI", Align::kLeft},
                                                      {"R²"}}) {
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

std::string fits_section(std::span<const analyzer::GroupFit> fits, const std::string& field,
                         const Paint& paint, std::size_t width) {
  if (fits.empty()) return {};
  const bool variants =
      std::any_of(fits.begin(), fits.end(), [](const auto& fit) { return !fit.variant.empty(); });
  Table table(columns_of(field, variants));
  for (const analyzer::GroupFit& fit : fits) {
    for (const AlphaBetaRegime& regime : fit.fit.regimes) {
      std::vector<TableCell> cells = {{visible(fit.function)}, {std::to_string(fit.ranks)}};
      if (variants) cells.push_back({visible(fit.variant)});
      if (!field.empty()) cells.push_back({fit.value.empty() ? "(none)" : visible(fit.value)});
      cells.push_back({std::to_string(regime.sizes)});
      cells.push_back({count_in_words(static_cast<std::int64_t>(regime.from_bytes))});
      cells.push_back({count_in_words(static_cast<std::int64_t>(regime.to_bytes))});
      cells.push_back({time_in_words(regime.latency_ns)});
      cells.push_back({latency_interval(regime)});
      cells.push_back({regime.ns_per_byte > 0 ? number(1 / regime.ns_per_byte) : "–"});
      cells.push_back({bandwidth_interval(regime)});
      cells.push_back({fmt::format("{:.4f}", regime.r_squared)});
      table.add_row(std::move(cells));
    }
  }
  return "\n" +
         paint(Tone::kStrong, "Latency and bandwidth: time = latency + bytes/bandwidth, by size regime") +
         "\n" + table.render(paint, 2, width);
}

}  // namespace ddbench::reports
