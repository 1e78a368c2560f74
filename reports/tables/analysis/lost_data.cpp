#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/phrases.h"
#include "reports/text/shown_parts.h"

namespace ddbench::reports {
namespace {

using analyzer::CurveRow;
using analyzer::ScalingCurve;

/// The waterfall of one size, in one unit, its parts rounded so that they sum to the loss.
struct ShownLoss {
  explicit ShownLoss(const CurveRow& row) : scale(largest_of(row)) {
    parts = scale.show({row.waterfall->ns.begin(), row.waterfall->ns.end()}, true);
  }
  static std::int64_t largest_of(const CurveRow& row) {
    std::int64_t largest_ns = std::abs(row.lost_ns);
    for (const std::int64_t part_ns : row.waterfall->ns) largest_ns = std::max(largest_ns, std::abs(part_ns));
    return largest_ns;
  }
  TimeScale scale;
  std::vector<std::string> parts;
};

DataCell loss_cell(const TimeScale& scale, std::int64_t lost_ns, std::string text, const ConfidenceInterval* interval) {
  DataCell cell = value_cell(static_cast<double>(lost_ns), std::move(text));
  if (interval == nullptr) return cell;
  cell.text += fmt::format(" ({} to {})", scale.show_one(std::llround(interval->low), true),
                           scale.show_one(std::llround(interval->high), true));
  cell.why = interval->method;
  return cell;
}

std::vector<store::StepPart> lost_parts(const std::vector<const CurveRow*>& rows) {
  std::vector<store::StepPart> parts;
  for (int i = 0; i < store::kStepPartCount; ++i) {
    const auto part = static_cast<store::StepPart>(i);
    if (std::any_of(rows.begin(), rows.end(), [part](const CurveRow* row) { return (*row->waterfall)[part] != 0; }))
      parts.push_back(part);
  }
  return parts;
}

DataTable lost_table(std::span<const CurveRow* const> rows, const std::vector<store::StepPart>& parts) {
  DataTable table;
  table.columns = {{"part"}};
  for (const CurveRow* row : rows) table.columns.push_back({gpus_in_words(row->world_size), true});
  table.total = {text_cell("lost a step", CellTone::kStrong)};
  for (const store::StepPart part : parts) table.rows.push_back({text_cell(part_in_words(part))});
  for (const CurveRow* row : rows) {
    const ShownLoss shown(*row);
    const auto* intervals = row->loss_intervals ? &*row->loss_intervals : nullptr;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto place = static_cast<std::size_t>(parts[i]);
      const ConfidenceInterval* interval = intervals ? &intervals->parts[place] : nullptr;
      table.rows[i].push_back(loss_cell(shown.scale, row->waterfall->ns[place], shown.parts[place], interval));
    }
    const std::string lost = shown.scale.show_one(row->lost_ns, true);
    table.total->push_back(loss_cell(shown.scale, row->lost_ns, lost, intervals ? &intervals->lost : nullptr));
    table.total->back().tone = CellTone::kStrong;
  }
  return table;
}

}  // namespace

std::vector<DataTable> lost_by_size_data(const ScalingCurve& curve, std::size_t sizes) {
  std::vector<const CurveRow*> rows;
  for (const CurveRow& row : curve.rows) {
    if (!row.is_baseline && row.waterfall) rows.push_back(&row);
  }
  const std::vector<store::StepPart> parts = lost_parts(rows);
  std::vector<DataTable> tables;
  if (parts.empty()) return tables;
  const std::span<const CurveRow* const> all(rows);
  for (std::size_t first = 0; first < rows.size(); first += sizes)
    tables.push_back(lost_table(all.subspan(first, std::min(sizes, rows.size() - first)), parts));
  tables.front().caption = "Lost step time against the baseline";
  const auto& intervals = rows.back()->loss_intervals;
  if (intervals) {
    tables.front().detail = "95% CI in parentheses";
  } else {
    tables.back().notes = {"no intervals: " + intervals.reason()};
  }
  return tables;
}

}  // namespace ddbench::reports
