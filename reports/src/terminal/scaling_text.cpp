#include <fmt/format.h>

#include <algorithm>

#include "../safe_text.h"
#include "bars.h"
#include "case_legend.h"
#include "ddbench/reports/quantity.h"
#include "ddbench/reports/text.h"
#include "notes_text.h"
#include "paint.h"
#include "phrases.h"
#include "table.h"

namespace ddbench::reports {
namespace {

using analyzer::ScalingRow;

/// Half the width of the interval, relative to the step time.
std::string spread(const ScalingRow& row) {
  if (!row.step_time_ns || row.step_time_ns.value().value <= 0) return "–";
  const analyzer::Estimate& estimate = *row.step_time_ns;
  return fmt::format("±{:.1f} %", 50 * (estimate.interval.high - estimate.interval.low) / estimate.value);
}

/// Known even where the interval is not.
std::string step_time(const ScalingRow& row) {
  if (!row.samples_per_s) return "–";
  return time_in_words(static_cast<double>(row.run_case.global_batch()) * 1e9 / *row.samples_per_s);
}

TableCell efficiency_cell(const ScalingRow& row) {
  if (!row.efficiency) return {"–"};
  const double value = *row.efficiency;
  return {percent_in_words(value), value < 0.5 ? Tone::kBad : value < 0.8 ? Tone::kWarning : Tone::kGood};
}

/// Rows without figures say in its place what became of them; the notes say why.
TableCell bar_cell(const ScalingRow& row) {
  if (row.state != "done") return {visible(row.state.substr(0, row.state.find(':'))), Tone::kBad};
  return {bar(row.efficiency.value_or(0), kBarColumns), efficiency_cell(row).tone};
}

/// Columns that would say the same in every row are left out.
struct OptionalColumns {
  bool serial = false;
  bool batch = false;
  bool link = false;
  bool variant = false;
  bool runs = false;
};

OptionalColumns columns_for(const analyzer::ScalingTable& table) {
  OptionalColumns columns;
  columns.serial = table.mode == ScalingMode::kStrong;
  for (const ScalingRow& row : table.rows) {
    columns.batch |=
        !columns.serial && row.run_case.batch_per_gpu != table.rows.front().run_case.batch_per_gpu;
    columns.link |= !row.run_case.link.empty();
    columns.variant |= !row.variant.empty();
    columns.runs |= row.repetitions > 1;
  }
  return columns;
}

std::vector<TableColumn> titles_of(const OptionalColumns& optional) {
  std::vector<TableColumn> titles = {
      {"GPUs"},      {"nodes"},   {"efficiency"}, {"", Align::kLeft}, {"speedup"},
      {"step time"}, {"95 % CI"}, {"samples/s"},  {"exposed"},        {"prov.", Align::kLeft}};
  if (optional.serial) titles.push_back({"serial"});
  if (optional.batch) titles.push_back({"batch/GPU"});
  if (optional.runs) titles.push_back({"runs"});
  if (optional.link) titles.push_back({"link", Align::kLeft, true});
  if (optional.variant) titles.insert(titles.begin() + 2, {"case"});
  return titles;
}

std::vector<TableCell> cells_of(const ScalingRow& row, const OptionalColumns& optional, CaseLegend& cases) {
  const TableCell efficiency = efficiency_cell(row);
  std::vector<TableCell> cells = {
      {std::to_string(row.world_size)},
      {std::to_string(row.run_case.nodes)},
      efficiency,
      bar_cell(row),
      {number_or_dash(row.speedup)},
      {step_time(row)},
      {spread(row)},
      {number_or_dash(row.samples_per_s, 4)},
      {row.exposed_communication_share ? percent_in_words(*row.exposed_communication_share)
                                       : std::string("–")},
      {provenance_in_letters(row.provenance)}};
  if (optional.serial) cells.push_back({number_or_dash(row.serial_fraction)});
  if (optional.batch) cells.push_back({count_in_words(row.run_case.batch_per_gpu)});
  if (optional.runs) cells.push_back({std::to_string(row.repetitions)});
  if (optional.link) cells.push_back({visible(row.run_case.link)});
  if (optional.variant) cells.insert(cells.begin() + 2, {cases.number_of(row.variant)});
  return cells;
}

}  // namespace

std::string scaling_text(const analyzer::ScalingTable& table, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  std::string text;
  const std::string title = fmt::format(
      "{} scaling against {}", table.mode == ScalingMode::kWeak ? "Weak" : "Strong", visible(table.baseline));
  const std::string sweep = table.sweep_id.empty() ? "" : "sweep " + visible(table.sweep_id);
  for (const std::string& line : joined({title, sweep}, " · ", width)) {
    text += paint(Tone::kStrong, fitted(line, width)) + "\n";
  }
  const OptionalColumns optional = columns_for(table);
  Table rows(titles_of(optional));
  CaseLegend cases;
  std::uint32_t provenances = 0;
  for (const ScalingRow& row : table.rows) {
    rows.add_row(cells_of(row, optional, cases));
    provenances |= row.provenance.bits();
  }
  const std::string legend =
      "exposed: communication, of the step · " + provenance_legend(ProvenanceSet::from_bits(provenances));
  text += "\n" + rows.render(paint, 0, width) + "\n" + cases.render(paint, width) +
          paint(Tone::kFaint, fitted(legend, width)) + "\n";
  if (const std::string notes = notes_section(table.notes, paint, width); !notes.empty())
    text += "\n" + notes;
  return text;
}

}  // namespace ddbench::reports
