#include <fmt/format.h>

#include <algorithm>

#include "analyzer/scaling/scaling_series.h"
#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::ScalingCurve;

std::string lost_section(const ScalingCurve& curve, const Paint& paint, LineWidth width) {
  const bool has_intervals =
      std::any_of(curve.rows.begin(), curve.rows.end(), [](const auto& row) { return bool(row.loss_intervals); });
  const std::size_t beside = std::max<std::size_t>(1, (width - std::min<std::size_t>(width, 20)) / (has_intervals ? 36 : 13));
  std::string text;
  for (const DataTable& table : lost_by_size_data(curve, beside)) text += "\n" + data_table_text(table, paint, width);
  return text;
}

std::string law_section(const ScalingCurve& curve, const Paint& paint, LineWidth width) {
  if (curve.model) return "\n" + data_table_text(law_data(*curve.model), paint, width);
  DataTable none;
  none.caption = "Law";
  none.detail = "none: " + curve.model.reason();
  return "\n" + data_table_text(none, paint, width);
}

std::string predictions_section(const ScalingCurve& curve, const Paint& paint, LineWidth width) {
  return curve.predictions.empty() ? "" : "\n" + data_table_text(predictions_data(curve), paint, width);
}

std::string stragglers_section(const ScalingCurve& curve, const Paint& paint, LineWidth width) {
  DataTable table = curve.stragglers ? stragglers_data(*curve.stragglers) : DataTable{};
  if (!curve.stragglers) table.detail = "not known: " + curve.stragglers.reason();
  table.caption = fmt::format("Who arrives last, on {}", gpus_in_words(curve.rows.back().world_size));
  return "\n" + data_table_text(table, paint, width);
}

std::string costs_section(const analyzer::CurveCosts& costs, const Paint& paint, LineWidth width) {
  std::string text;
  if (!costs.table.rows.empty()) text += "\n" + data_table_text(costs_data(costs.table), paint, width);
  if (costs.in_time) text += "\n" + data_table_text(nodes_in_time_data(*costs.in_time), paint, width);
  return text;
}

}  // namespace

std::string curve_text(const ScalingCurve& curve, const TextStyle& style, const analyzer::CurveCosts& costs) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  const std::string kind = analyzer::kind_of_scaling(curve.mode, curve.rows.front().run_case);
  const std::string title = fmt::format("{} against {}", sentence(kind), visible(curve.baseline));
  std::string text;
  for (const std::string& line : wrapped(title, width)) text += paint(Tone::kStrong, line) + "\n";
  const NamedCurve named{"", &curve};
  text += "\n" + data_table_text(curve_data({&named, 1}), paint, width, 0) + lost_section(curve, paint, width) +
          law_section(curve, paint, width) + predictions_section(curve, paint, width) + costs_section(costs, paint, width) + stragglers_section(curve, paint, width);
  std::vector<std::string> notes = curve.notes;
  if (!costs.table.rows.empty()) notes.insert(notes.end(), costs.table.notes.begin(), costs.table.notes.end());
  if (curve.model) notes.insert(notes.end(), curve.model->notes.begin(), curve.model->notes.end());
  if (curve.stragglers)
    notes.insert(notes.end(), curve.stragglers->notes.begin(), curve.stragglers->notes.end());
  if (const std::string section = notes_section(notes, paint, width); !section.empty())
    text += "\n" + section;
  return text;
}

}  // namespace ddbench::reports
