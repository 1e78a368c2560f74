#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/case_legend.h"
#include "reports/formats/terminal/fits_text.h"
#include "reports/formats/terminal/intervals_text.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::CostRow;
using analyzer::CostTable;
using analyzer::GroupComparison;

std::string value_in_words(const std::string& value) {
  return value.empty() ? "(none)" : visible(value);
}

std::string usd(const Measured<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "–";
}

std::string rows_section(const GroupComparison& groups, const Paint& paint, std::size_t width) {
  if (groups.rows.empty()) return {};
  const bool variants = std::any_of(groups.rows.begin(), groups.rows.end(),
                                    [](const auto& row) { return !row.variant.empty(); });
  std::vector<TableColumn> columns = {{"GPUs"}, {"nodes"}, {visible(groups.field), Align::kLeft, true}};
  if (variants) columns.push_back({"case"});
  for (TableColumn& column : std::vector<TableColumn>{{"samples/s"},
                                                      {"over the reference", Align::kLeft},
                                                      {"efficiency"},
                                                      {"exposed"},
                                                      {"step time"},
                                                      {"runs"},
                                                      {"prov.", Align::kLeft}}) {
    columns.push_back(std::move(column));
  }
  Table table(std::move(columns));
  CaseLegend cases;
  std::uint32_t provenances = 0;
  for (const analyzer::GroupRow& row : groups.rows) {
    const bool reference = row.value == groups.values.front();
    std::vector<TableCell> cells = {
        {std::to_string(row.world_size)}, {std::to_string(row.run_case.nodes)}, {value_in_words(row.value)}};
    if (variants) cells.push_back({cases.number_of(row.variant)});
    cells.push_back({rate_in_words(row.samples_per_s, row.without_samples.empty(), row.world_size)});
    cells.push_back({reference ? "reference" : ratio_in_words(row.against_reference),
                     reference ? Tone::kFaint : Tone::kPlain});
    cells.push_back({row.efficiency ? percent_in_words(*row.efficiency) : "–"});
    cells.push_back({row.exposed_share ? percent_in_words(*row.exposed_share) : "–"});
    cells.push_back({time_in_words(row.step_time_ns)});
    cells.push_back({std::to_string(row.runs.size())});
    cells.push_back({provenance_in_letters(row.provenance)});
    table.add_row(std::move(cells));
    provenances |= row.provenance.bits();
  }
  const std::string legend =
      "efficiency: against the smallest size · " + provenance_legend(ProvenanceSet::from_bits(provenances));
  return table.render(paint, 0, width) + cases.render(paint, width) +
         paint(Tone::kFaint, fitted(legend, width)) + "\n";
}

std::string collectives_section(const GroupComparison& groups, const Paint& paint, std::size_t width) {
  if (groups.collectives.empty()) return {};
  const bool variants = std::any_of(groups.collectives.begin(), groups.collectives.end(),
                                    [](const auto& row) { return !row.variant.empty(); });
  std::vector<TableColumn> columns = {{"function", Align::kLeft},
                                      {"ranks"},
                                      {"bytes"},
                                      {visible(groups.field), Align::kLeft, true},
                                      {"time"},
                                      {"busbw GB/s"},
                                      {"over the reference", Align::kLeft}};
  if (variants) columns.insert(columns.begin() + 2, {"where", Align::kLeft, true});
  Table table(std::move(columns));
  for (const analyzer::GroupCollective& row : groups.collectives) {
    std::vector<TableCell> cells = {
        {visible(row.function)},
        {row.ranks == 0 ? "–" : std::to_string(row.ranks)},
        {count_in_words(static_cast<std::int64_t>(row.bytes))},
        {value_in_words(row.value)},
        {time_in_words(row.transfer_ns)},
        {row.busbw_gb_per_s ? number(*row.busbw_gb_per_s) : "–"},
        {row.value == groups.values.front() ? "reference" : ratio_in_words(row.against_reference)}};
    if (variants) cells.insert(cells.begin() + 2, {visible(row.variant)});
    table.add_row(std::move(cells));
  }
  return "\n" + paint(Tone::kStrong, "Collectives") + "\n" + table.render(paint, 2, width);
}

std::string costs_section(const CostTable& costs, const Paint& paint, std::size_t width) {
  if (costs.rows.empty()) return {};
  Table table({{"offer", Align::kLeft, true},
               {"USD/h"},
               {"USD a million samples"},
               {"95% CI", Align::kLeft},
               {"USD an epoch"},
               {"hours"},
               {"USD"},
               {"", Align::kLeft},
               {"price", Align::kLeft, true}});
  for (std::size_t i = 0; i < costs.rows.size(); ++i) {
    const CostRow& row = costs.rows[i];
    const auto& million = row.usd_per_million_samples;
    std::string mark = static_cast<int>(i) == costs.cheapest_in_time ? "cheapest in time"
                       : row.on_front                                ? "on the front"
                                                                     : "";
    if (row.usd && !row.meets_deadline) mark = "too late";
    table.add_row({{visible(row.offer.label)},
                   {usd(row.usd_per_h)},
                   {million ? fmt::format("{:.4f}", million->value) : "–"},
                   {million && million->interval.level > 0 ? interval_in_words(million->interval) : "–"},
                   {usd(row.usd_per_epoch)},
                   {row.hours ? number(*row.hours, 4) : "–"},
                   {usd(row.usd)},
                   {mark, static_cast<int>(i) == costs.cheapest_in_time ? Tone::kGood : Tone::kPlain},
                   {visible(row.usd_per_h ? row.price_note : row.usd_per_h.reason())}});
  }
  return "\n" + paint(Tone::kStrong, "Cost") + "\n" + table.render(paint, 2, width);
}

}  // namespace

std::string groups_text(const GroupComparison& groups, const CostTable& costs, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  const std::string title =
      fmt::format("By {}, against {}", visible(groups.field), value_in_words(groups.values.front()));
  std::string text = paint(Tone::kStrong, fitted(title, width)) + "\n\n" +
                     rows_section(groups, paint, width) + collectives_section(groups, paint, width) +
                     fits_section(groups.fits, groups.field, paint, width) +
                     costs_section(costs, paint, width);
  std::vector<std::string> notes = groups.notes;
  if (!costs.rows.empty()) notes.insert(notes.end(), costs.notes.begin(), costs.notes.end());
  if (const std::string section = notes_section(notes, paint, width); !section.empty())
    text += "\n" + section;
  return text;
}

}  // namespace ddbench::reports
