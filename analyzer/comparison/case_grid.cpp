#include "analyzer/comparison/case_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analyzer/run/run_fields.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

std::string value_of(const CaseFields& fields, const std::string& field) {
  const auto found = fields.find(field);
  std::string value = found == fields.end() ? "" : found->second.text;
  if (value.empty() && field == "network") value = kNotProved;
  return value;
}

/// What cells of one case may differ in when runs are compared by `field`.
VariedFields within_case(const std::string& field) {
  VariedFields varied = kWithinCurve;
  varied.names.insert(field);
  if (field != "world_size") varied.roles.erase(FieldRole::kScale);
  if (field == "network") varied.names.insert({"link", "requested_network"});  // they choose it
  return varied;
}

/// The same for a run of any size.
VariedFields within_cases_of_any_size(const std::string& field) {
  VariedFields varied = within_case(field);
  varied.roles.insert(FieldRole::kScale);
  return varied;
}

/// The edited program files among these runs. Other files do not distinguish cases, because not all runs
/// record them.
std::set<std::string> edited_files(const std::vector<RunSummary>& summaries, const std::string& field) {
  std::vector<store::RunRecord> programs;
  for (const RunSummary& summary : summaries) {
    if (is_program(summary.run.run_case)) programs.push_back(summary.run);
  }
  std::set<std::string> edited;
  for (const auto& [name, values] : differing_fields(programs, within_cases_of_any_size(field))) edited.insert(name);
  return edited;
}

std::string in_lines(const std::map<std::string, std::string>& fields, const std::set<std::string>& edited) {
  std::string text;
  for (const auto& [name, value] : fields) {
    if (!name.starts_with(kScriptPrefix) || edited.contains(name)) text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

/// Sorts numerically if all values are numbers; otherwise keeps them in order of age.
/// Numbers by size, others behind them as they are.
void sort_values(std::vector<std::string>& values) {
  const auto numbers_end =
      std::stable_partition(values.begin(), values.end(), [](const auto& text) { return number_from<double>(text).has_value(); });
  std::sort(values.begin(), numbers_end,
            [](const auto& a, const auto& b) { return *number_from<double>(a) < *number_from<double>(b); });
}

using ValuesOfCurves = std::map<std::string, std::set<std::string>>;

ValuesOfCurves values_of_curves(const std::vector<GroupCell>& cells) {
  ValuesOfCurves values;
  for (const GroupCell& cell : cells) values[cell.curve].insert(cell.value);
  return values;
}

/// Drops cells of curves with one value, where there are others.
void keep_comparable(std::vector<GroupCell>& cells, const std::string& field,
                     std::vector<std::string>& notes) {
  const ValuesOfCurves values = values_of_curves(cells);
  const auto alone = [&](const GroupCell& cell) { return values.at(cell.curve).size() < 2; };
  if (std::all_of(cells.begin(), cells.end(), alone)) return;
  std::size_t runs = 0;
  for (const GroupCell& cell : cells) runs += alone(cell) ? cell.runs.size() : 0;
  std::erase_if(cells, alone);
  if (runs > 0) notes.push_back(fmt::format("{} run(s) of cases with one {} only are left out", runs, field));
}

/// The value that meets the most cases that were run with another one too.
std::string usual_reference(const std::vector<GroupCell>& cells, const std::vector<std::string>& values) {
  std::map<std::string, std::set<std::string>> values_of_rest;
  for (const GroupCell& cell : cells) values_of_rest[cell.rest].insert(cell.value);
  std::map<std::string, std::size_t> met;
  for (const auto& [rest, found] : values_of_rest) {
    for (const std::string& value : found) met[value] += found.size() > 1;
  }
  return *std::max_element(values.begin(), values.end(),
                           [&](const auto& a, const auto& b) { return met[a] < met[b]; });
}

void order_values(const std::vector<GroupCell>& cells, const std::string& field, const std::string& reference,
                  std::vector<std::string>& values) {
  for (const GroupCell& cell : cells) {
    if (std::find(values.begin(), values.end(), cell.value) == values.end()) values.push_back(cell.value);
  }
  const std::string wanted = reference.empty() ? usual_reference(cells, values) : reference;
  sort_values(values);
  const auto found = std::find(values.begin(), values.end(), wanted);
  if (found == values.end()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("no run has {} \"{}\"; there are {}", field, wanted, fmt::join(values, ", ")));
  }
  std::rotate(values.begin(), found, found + 1);
}

/// Names the fields in which the curves differ.
void add_variants(std::vector<GroupCell>& cells, const std::string& field) {
  std::vector<store::RunRecord> runs;
  for (const GroupCell& cell : cells) runs.push_back(cell.runs.front().run);
  const VariedFields varied = within_cases_of_any_size(field);
  const auto differing = differing_fields(runs, varied);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const auto& [name, value] : group_fields(runs[i], varied)) {
      if (differing.contains(name) && applies(runs[i], name))
        cells[i].variant += fmt::format("{}{}={}", cells[i].variant.empty() ? "" : " ", name, value);
    }
  }
}

}  // namespace

std::vector<GroupCell> group_cells(std::vector<RunSummary> summaries, const std::string& field,
                                   const std::string& reference, std::vector<std::string>& values,
                                   std::vector<std::string>& notes) {
  std::vector<GroupCell> cells;
  const std::set<std::string> edited = edited_files(summaries, field);
  for (RunSummary& summary : summaries) {
    const std::string value = value_of(run_fields(summary.run), field);
    const std::string rest = in_lines(group_fields(summary.run, within_case(field)), edited);
    auto cell = std::find_if(cells.begin(), cells.end(),
                             [&](const auto& c) { return c.value == value && c.rest == rest; });
    if (cell == cells.end()) {
      const auto curve = group_fields(summary.run, within_cases_of_any_size(field));
      cell = cells.insert(cells.end(), {in_lines(curve, edited), rest, value, {}, {}});
    }
    cell->runs.push_back(std::move(summary));
  }
  keep_comparable(cells, field, notes);
  order_values(cells, field, reference, values);
  add_variants(cells, field);
  const auto order = [&](const GroupCell& cell) {
    return std::tuple(std::string_view(cell.curve), cell.run_case().world_size(), cell.run_case().nodes, cell.run_case().nodes_not_stated,
                      std::find(values.begin(), values.end(), cell.value) - values.begin());
  };
  std::stable_sort(cells.begin(), cells.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return cells;
}

}  // namespace ddbench::analyzer
