#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/phrases.h"
#include "reports/text/shown_parts.h"

namespace ddbench::reports {
namespace {

using analyzer::CurveRow;
using analyzer::ScalingCurve;

DataCell loss_cell(const CurveRow& row, std::int64_t lost_ns, const ConfidenceInterval* interval) {
  const TimeScale scale(std::max(std::abs(row.lost_ns), std::abs(lost_ns)));
  DataCell cell = value_cell(static_cast<double>(lost_ns), scale.show_one(lost_ns, true));
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
  for (const store::StepPart part : parts) {
    std::vector<DataCell>& line = table.rows.emplace_back();
    line.push_back(text_cell(std::string(part_in_words(part))));
    for (const CurveRow* row : rows) {
      const auto* intervals = row->loss_intervals ? &*row->loss_intervals : nullptr;
      line.push_back(loss_cell(*row, (*row->waterfall)[part], intervals ? &intervals->parts[static_cast<std::size_t>(part)] : nullptr));
    }
  }
  table.total = {text_cell("lost a step", CellTone::kStrong)};
  for (const CurveRow* row : rows) {
    table.total->push_back(loss_cell(*row, row->lost_ns, row->loss_intervals ? &row->loss_intervals->lost : nullptr));
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
