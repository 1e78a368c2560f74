#include <fmt/format.h>

#include <algorithm>

#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/analysis/columns.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

constexpr std::size_t kMostDifferences = 40;
constexpr std::size_t kMostKernels = 12;
constexpr std::size_t kLongestValue = 48;

void note_the_rest(std::size_t all, std::size_t most, DataTable& data) {
  if (all > most) data.notes = {fmt::format("and {} more (--json has all)", all - most)};
}

DataCell side_cell(const std::string& value) {
  DataCell cell = code_cell(value.empty() ? "–" : value);
  if (value.size() > kLongestValue) cell.brief = shortened(value, kLongestValue);
  return cell;
}

/// With its unit, because the heading names the side.
DataCell side_cell(const Measured<double>& value, const std::string& unit) {
  return value ? value_cell(*value, value_in_words(*value, unit)) : missing_cell(value.reason());
}

}  // namespace

DataTable differences_data(const analyzer::Comparison& comparison) {
  TableOf<FieldDifference> table;
  table.add(true, {"field"}, [](const FieldDifference& each) { return code_cell(each.field); });
  table.add(true, {.title = "A", .is_prose = true}, [](const FieldDifference& each) { return side_cell(each.a); });
  table.add(true, {.title = "B", .is_prose = true}, [](const FieldDifference& each) { return side_cell(each.b); });
  table.add(true, {"role"}, [](const FieldDifference& each) {
    if (is_asked_for(each.role)) return text_cell("");
    return text_cell(each.role == FieldRole::kConsequence ? "follows" : "environment", CellTone::kFaint);
  });
  const std::size_t shown = std::min(comparison.differences.size(), kMostDifferences);
  DataTable data = std::move(table).of(std::span(comparison.differences).first(shown));
  data.caption = "What differs";
  note_the_rest(comparison.differences.size(), kMostDifferences, data);
  return data;
}

DataTable compared_data(const std::string& caption, const std::vector<analyzer::ComparedFigure>& figures, std::size_t most) {
  using analyzer::ComparedFigure;
  TableOf<ComparedFigure> table;
  table.add(true, {"figure"}, [](const ComparedFigure& each) { return text_cell(each.short_name.empty() ? each.name : each.short_name); });
  table.add(true, {"A", true}, [](const ComparedFigure& each) { return side_cell(each.a, each.unit); });
  table.add(true, {"B", true}, [](const ComparedFigure& each) { return side_cell(each.b, each.unit); });
  table.add(true, {"B over A (95%)"}, [](const ComparedFigure& each) { return ratio_cell(each.ratio); });
  std::vector<ComparedFigure> shown(figures.begin(), figures.begin() + static_cast<std::ptrdiff_t>(std::min(figures.size(), most)));
  std::erase_if(shown, [](const ComparedFigure& each) { return !each.a && !each.b; });
  DataTable data = std::move(table).of(shown);
  data.caption = caption;
  note_the_rest(figures.size(), most, data);
  return data;
}

DataTable compared_parts_data(const analyzer::Comparison& comparison) {
  std::vector<analyzer::ComparedFigure> parts = comparison.parts;
  for (analyzer::ComparedFigure& part : parts) part.name = part_in_words(part.name);
  return compared_data("Mean step by parts", parts, parts.size());
}

std::vector<DataTable> comparison_tables(const analyzer::Comparison& comparison) {
  constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  std::vector<DataTable> tables = {differences_data(comparison), compared_data("What changed", comparison.figures, kAll), compared_parts_data(comparison),
                                   compared_data("Collectives: transfer time", comparison.collectives, kAll),
                                   compared_data("Kernels: time a step and rank, largest change first", comparison.kernels, kMostKernels)};
  std::erase_if(tables, [](const DataTable& table) { return table.rows.empty(); });
  return tables;
}

std::string side_in_words(const analyzer::ComparedSide& side) {
  const store::RunRecord& run = side.runs.front();
  return fmt::format("{}{} · {} · {} · {}", side.meaning, side.runs.size() > 1 ? fmt::format(" ({} runs)", side.runs.size()) : "",
                     work_name(run.run_case.work), shape_in_words(run.run_case), provenance_in_words(run.provenance));
}

}  // namespace ddbench::reports
