#include "reports/tables/analysis/columns.h"

#include <fmt/format.h>

#include "core/text/quantity.h"

namespace ddbench::reports {

DataCell usd_cell(const Measured<double>& usd, int decimals) {
  if (!usd) return missing_cell(usd.reason());
  const bool has_cents = *usd < 999.995 && (decimals <= 2 || *usd < 10);
  return value_cell(*usd, has_cents ? fmt::format("{:.{}f}", *usd, decimals) : number(*usd, 4));
}

DataCell ratio_cell(const Measured<analyzer::RunRatio>& ratio) {
  if (!ratio) return missing_cell(ratio.reason());
  DataCell cell = value_cell(ratio->value, "×" + number(ratio->value, 4));
  if (ratio->interval) {
    cell.text += fmt::format(" ({} to {})", number(ratio->interval->low, 4), number(ratio->interval->high, 4));
    cell.why = ratio->interval->method;
  } else {
    cell.why = "no interval: " + ratio->interval.reason();
  }
  return cell;
}

}  // namespace ddbench::reports
