#include <fmt/format.h>

#include <algorithm>

#include "../quantity.h"
#include "../safe_text.h"
#include "bars.h"
#include "ddbench/reports/text.h"
#include "notes_text.h"
#include "paint.h"
#include "phrases.h"
#include "table.h"

namespace ddbench::reports {
namespace {

using analyzer::ScalingRow;

std::string shown(const Measured<double>& value, int significant = 3) {
  return value ? number(*value, significant) : std::string("–");
}

/// Half the width of the interval, relative to the step time.
std::string spread(const ScalingRow& row) {
  if (!row.step_time_ns || row.step_time_ns.value().value <= 0) return "–";
  const analyzer::Estimate& estimate = *row.step_time_ns;
  return fmt::format("±{:.1f} %", 50 * (estimate.interval.high - estimate.interval.low) / estimate.value);
}

/// Known even where the interval is not.
std::string step_time(const ScalingRow& row) {
  if (!row.samples_per_s) return "–";
  return quantity(static_cast<double>(row.run_case.global_batch()) * 1e9 / *row.samples_per_s, "ns");
}

TableCell efficiency_cell(const ScalingRow& row) {
  if (!row.efficiency) return {"–"};
  const double value = *row.efficiency;
  return {percent_in_words(value), value < 0.5 ? Tone::kBad : value < 0.8 ? Tone::kWarning : Tone::kGood};
}

Table make_table(const analyzer::ScalingTable& table) {
  Table result({{"GPUs"},
                {"nodes"},
                {"efficiency"},
                {"", Align::kLeft},
                {"speedup"},
                {"step time"},
                {"95 % CI"},
                {"samples/s"},
                {"exposed"},
                {table.mode == ScalingMode::kStrong ? "serial" : "batch/GPU"},
                {"runs"},
                {"link", Align::kLeft, true},
                {"provenance", Align::kLeft, true},
                {"state", Align::kLeft, true}});
  for (const ScalingRow& row : table.rows) {
    const bool strong = table.mode == ScalingMode::kStrong;
    result.add_row(
        {{std::to_string(row.world_size)},
         {std::to_string(row.run_case.nodes)},
         efficiency_cell(row),
         {bar(row.efficiency.value_or(0), 12), efficiency_cell(row).tone},
         {shown(row.speedup)},
         {step_time(row)},
         {spread(row)},
         {shown(row.samples_per_s, 4)},
         {row.repetitions > 0 ? percent_in_words(row.exposed_communication_share) : std::string("–")},
         {strong ? shown(row.serial_fraction) : std::to_string(row.run_case.batch_per_gpu)},
         {std::to_string(row.repetitions)},
         {visible(row.run_case.link)},
         {provenance_in_words(row.provenance), Tone::kFaint},
         {visible(row.state), row.state == "done" ? Tone::kFaint : Tone::kBad}});
  }
  return result;
}

}  // namespace

std::string scaling_text(const analyzer::ScalingTable& table, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  std::string text;
  const std::string title = fmt::format("{} scaling", table.mode == ScalingMode::kWeak ? "Weak" : "Strong");
  const std::vector<std::string> facts = {"against " + visible(table.baseline),
                                          table.sweep_id.empty() ? "" : "sweep " + visible(table.sweep_id)};
  for (const std::string& line : joined({title + " " + facts[0], facts[1]}, " · ", width)) {
    text += paint(Tone::kStrong, fitted(line, width)) + "\n";
  }
  text += "\n" + make_table(table).render(paint, 2, width);
  if (const std::string notes = notes_section(table.notes, paint, width); !notes.empty())
    text += "\n" + notes;
  return text;
}

}  // namespace ddbench::reports
