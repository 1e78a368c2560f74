#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/terminal/case_legend.h"
#include "reports/formats/terminal/intervals_text.h"
#include "reports/formats/terminal/layout/bars.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/formats/terminal/text.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::ScalingRow;

/// Half the width of the interval, relative to the step time.
std::string spread(const ScalingRow& row) {
  if (!row.step_time_ns || row.step_time_ns->value <= 0 || !row.step_time_ns->interval) return "–";
  const ConfidenceInterval& interval = *row.step_time_ns->interval;
  return fmt::format("±{:.1f}%", 50 * (interval.high - interval.low) / row.step_time_ns->value);
}

std::string step_time(const ScalingRow& row) {
  return row.step_time_ns ? time_in_words(row.step_time_ns->value) : "–";
}

TableCell efficiency_cell(const ScalingRow& row) {
  if (!row.efficiency) return {"–"};
  const double value = *row.efficiency;
  return {percent_in_words(value), value < 0.5 ? Tone::kBad : value < 0.8 ? Tone::kWarning : Tone::kGood};
}

/// The interval of the efficiency where any row has one, else a bar. Rows without figures say in its place
/// what became of them; the notes say why.
TableCell bar_or_interval_cell(const ScalingRow& row, bool interval) {
  if (row.state != "done") return {visible(row.state.substr(0, row.state.find(':'))), Tone::kBad};
  if (interval) return {row.efficiency_interval ? percent_interval_in_words(*row.efficiency_interval) : "–"};
  return {bar(row.efficiency.value_or(0), kBarColumns), efficiency_cell(row).tone};
}

/// Columns that would say the same in every row are left out.
struct OptionalColumns {
  bool serial = false;
  bool batch = false;
  bool link = false;
  bool variant = false;
  bool runs = false;
  bool interval = false;  ///< of the efficiency
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
    columns.interval |= bool(row.efficiency_interval);
  }
  return columns;
}

std::vector<TableColumn> titles_of(const OptionalColumns& optional) {
  std::vector<TableColumn> titles = {{"GPUs"},       {"nodes"},
                                     {"efficiency"}, {optional.interval ? "95% CI" : "", Align::kLeft},
                                     {"speedup"},    {"step time"},
                                     {"95% CI"},     {"samples/s"},
                                     {"exposed"},    {"prov.", Align::kLeft}};
  if (optional.serial) titles.push_back({"serial"});
  if (optional.batch) titles.push_back({"batch/GPU"});
  if (optional.runs) titles.push_back({"runs"});
  if (optional.link) titles.push_back({"link", Align::kLeft, true});
  if (optional.variant) titles.insert(titles.begin() + 2, {"case"});
  return titles;
}

std::string rate(const ScalingRow& row) {
  if (row.samples_per_s || !row.step_time_ns) return number_or_dash(row.samples_per_s, 4);
  return rate_in_words(1e9 / row.step_time_ns->value, false, 1);
}

std::vector<TableCell> cells_of(const ScalingRow& row, const OptionalColumns& optional, CaseLegend& cases) {
  const TableCell efficiency = efficiency_cell(row);
  std::vector<TableCell> cells = {
      {std::to_string(row.world_size)},
      {std::to_string(row.run_case.nodes)},
      efficiency,
      bar_or_interval_cell(row, optional.interval),
      {row.speedup ? with_half_width(*row.speedup, row.speedup_interval) : "–"},
      {step_time(row)},
      {spread(row)},
      {rate(row)},
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

/// Why no row has an interval of its efficiency; empty where one has.
std::string why_no_interval(const analyzer::ScalingTable& table) {
  std::string reason;
  for (const ScalingRow& row : table.rows) {
    if (row.efficiency_interval) return {};
    if (row.efficiency && row.efficiency_interval.reason() != "the baseline itself")
      reason = "no interval of the efficiency: " + row.efficiency_interval.reason();
  }
  return reason;
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
  const std::string legend = "exposed: exposed communication, % of step time · " +
                             provenance_legend(ProvenanceSet::from_bits(provenances));
  text += "\n" + rows.render(paint, 0, width) + "\n" + cases.render(paint, width) +
          paint(Tone::kFaint, fitted(legend, width)) + "\n";
  if (const std::string why = why_no_interval(table); !why.empty())
    text += paint(Tone::kFaint, fitted(why, width)) + "\n";
  if (const std::string notes = notes_section(table.notes, paint, width); !notes.empty())
    text += "\n" + notes;
  return text;
}

}  // namespace ddbench::reports
