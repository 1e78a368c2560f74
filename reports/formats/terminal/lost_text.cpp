#include "reports/formats/terminal/lost_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

#include "core/text/quantity.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"
#include "reports/text/shown_parts.h"

namespace ddbench::reports {
namespace {

using analyzer::CurveRow;
using analyzer::ScalingCurve;

std::string loss_of(const CurveRow& row, std::int64_t lost_ns, const ConfidenceInterval* interval) {
  const TimeScale scale(std::max(std::abs(row.lost_ns), std::abs(lost_ns)));
  std::string text = scale.show_one(lost_ns, true);
  if (interval != nullptr)
    text += fmt::format(" ({} to {})", scale.show_one(std::llround(interval->low), true),
                        scale.show_one(std::llround(interval->high), true));
  return text;
}

/// The bars of some sizes, a column a size.
std::string lost_table(std::span<const CurveRow* const> rows, const std::vector<store::StepPart>& parts,
                       const Paint& paint, std::size_t width) {
  std::vector<TableColumn> columns = {{"", Align::kLeft}};
  for (const CurveRow* row : rows) columns.push_back({gpus_in_words(row->world_size)});
  Table table(columns);
  for (const store::StepPart part : parts) {
    std::vector<TableCell> cells = {{std::string(part_in_words(part))}};
    for (const CurveRow* row : rows) {
      const auto* intervals = row->loss_intervals ? &*row->loss_intervals : nullptr;
      const auto index = static_cast<std::size_t>(part);
      cells.push_back(
          {loss_of(*row, (*row->waterfall)[part], intervals ? &intervals->parts[index] : nullptr)});
    }
    table.add_row(std::move(cells));
  }
  std::vector<TableCell> total = {{"lost a step", Tone::kStrong}};
  for (const CurveRow* row : rows) {
    const ConfidenceInterval* interval = row->loss_intervals ? &row->loss_intervals->lost : nullptr;
    total.push_back({loss_of(*row, row->lost_ns, interval), Tone::kStrong});
  }
  table.add_row(std::move(total));
  return table.render(paint, 2, width);
}

}  // namespace

std::string lost_by_size_text(const ScalingCurve& curve, const Paint& paint, std::size_t width) {
  std::vector<const CurveRow*> rows;
  std::vector<store::StepPart> parts;
  for (const CurveRow& row : curve.rows) {
    if (!row.is_baseline && row.waterfall) rows.push_back(&row);
  }
  for (int i = 0; i < store::kStepPartCount; ++i) {
    const auto part = static_cast<store::StepPart>(i);
    const auto is_lost = [part](const CurveRow* row) { return (*row->waterfall)[part] != 0; };
    if (std::any_of(rows.begin(), rows.end(), is_lost)) parts.push_back(part);
  }
  if (parts.empty()) return {};
  std::string text = "\n" + paint(Tone::kStrong, "Lost step time against the baseline") +
                     paint(Tone::kFaint, rows.back()->loss_intervals ? "  95% CI in parentheses" : "") + "\n";
  const bool has_intervals =
      std::any_of(rows.begin(), rows.end(), [](const CurveRow* row) { return bool(row->loss_intervals); });
  const std::size_t beside =
      std::max<std::size_t>(1, (width - std::min<std::size_t>(width, 20)) / (has_intervals ? 34 : 12));
  const std::span<const CurveRow* const> all(rows);
  for (std::size_t first = 0; first < rows.size(); first += beside)
    text += (first > 0 ? "\n" : "") +
            lost_table(all.subspan(first, std::min(beside, rows.size() - first)), parts, paint, width);
  if (!rows.back()->loss_intervals)
    text += paint(Tone::kFaint,
                  fitted("  no intervals: " + visible(rows.back()->loss_intervals.reason()), width)) +
            "\n";
  return text;
}

}  // namespace ddbench::reports
