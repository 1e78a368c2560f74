#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/statistics/statistics.h"
#include "core/measured.h"
#include "core/provenance.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {

enum class CellTone { kPlain, kFaint, kStrong, kGood, kWarning, kBad };

/// Beside a text, where the medium has no chart: its length relative to those of the other rows; negative: to the left.
struct CellBar {
  double length = 0;
  CellTone tone = CellTone::kPlain;
};

/// Unescaped text; the format escapes it.
struct DataCell {
  std::string text;
  std::optional<double> sort_by = {};  ///< numbers and times; texts are sorted as texts
  CellTone tone = CellTone::kPlain;
  std::string why = {};  ///< for a reader's questions about the cell: why it is empty, or how it was measured
  bool is_code = false;  ///< an identifier, a name, a path: shown as it is, in one face
  std::string brief = {};  ///< replaces `text` in narrow layouts; the table's legend explains it
  std::optional<CellBar> bar = {};
  std::string page = {};  ///< what it names, as the address of a page beside this one, encoded: "run/4f3a"; for formats with links
};

struct DataColumn {
  std::string title;
  bool numeric = false;
  std::string meaning = {};  ///< a sentence, if the title does not explain itself
  bool is_prose = false;     ///< long texts: shortened, or wrapped, if they do not fit on the line
  std::string brief = {};    ///< replaces the title in narrow layouts
};

/// The content of a table, for every format that has tables.
struct DataTable {
  std::string caption;
  std::string detail;  ///< a sentence below the caption
  std::vector<DataColumn> columns;
  std::vector<std::vector<DataCell>> rows;
  std::optional<std::vector<DataCell>> total = {};  ///< not sorted with the rows
  std::vector<std::string> legend = {};             ///< shown below the table if `brief` is used: its meaning
  std::vector<std::string> notes = {};              ///< below it, in every format
};

DataCell text_cell(std::string text, CellTone tone = CellTone::kPlain);
DataCell code_cell(std::string text);
DataCell run_cell(const std::string& id);
DataCell sweep_cell(const std::string& id);
/// Sorted by `value`, shown as `text`.
DataCell value_cell(double value, std::string text, CellTone tone = CellTone::kPlain);
DataCell time_cell(double time_ns);
DataCell count_cell(std::int64_t count);
/// The number of nodes of a case, or that it is not stated.
DataCell nodes_cell(const RunCase& run_case);
/// A dash, and why.
DataCell missing_cell(std::string reason);
/// "12.3 ms"; a plain number for units that the heading names ("1", "samples/s"). Missing: a dash and the reason.
DataCell quantity_cell(const Measured<double>& value, std::string_view unit, int significant = 3);
DataCell percent_cell(const Measured<double>& share);
DataCell efficiency_cell(const Measured<double>& share);  ///< a percentage in the colour of efficiency_tone()
CellTone efficiency_tone(double efficiency);               ///< bad below 50%, a warning below 80% and where it is hardly possible
/// "1.25 to 1.31" in the unit, with the method as the reason.
DataCell interval_cell(const Measured<ConfidenceInterval>& interval, std::string_view unit, int significant = 4);
/// "78.0 to 82.0%" of shares.
DataCell percent_interval_cell(const Measured<ConfidenceInterval>& interval);
/// For a column "samples/s". If `without_samples` states why samples are not known, `work_per_s` counts the
/// steps of all `ranks`, and the cell is "59.6 steps/s".
DataCell rate_cell(double work_per_s, const std::string& without_samples, double ranks);
/// "measured, emulated-network"; in brief its letters, which provenance_legend() explains.
DataCell provenance_cell(ProvenanceSet provenance);

/// "3.20 ±0.08": half of the interval, with its method or the reason why there is none.
DataCell half_width_cell(double value, const Measured<ConfidenceInterval>& interval);

/// For the columns of a step time in ns and of half of its interval, "±1.0%" of it.
DataCell step_time_cell(const Measured<analyzer::Quantity>& step_time_ns);
DataCell step_time_half_width_cell(const Measured<analyzer::Quantity>& step_time_ns);

/// The meaning of the letters in the provenance column, for those that occur.
template <typename Rows>
std::string provenance_legend_of(const Rows& rows) {
  std::uint32_t used = 0;
  for (const auto& row : rows) used |= row.provenance.bits();
  return provenance_legend(ProvenanceSet::from_bits(used));
}

template <typename Rows, typename Has>
bool any_row(const Rows& rows, Has has) {
  return std::any_of(rows.begin(), rows.end(), has);
}

/// Columns whose cells are made from one row of the analysis, each by its own function.
template <typename Row>
class TableOf {
 public:
  /// A column that is left out where `wanted` is false.
  void add(bool wanted, DataColumn column, std::function<DataCell(const Row&)> cell) {
    if (!wanted) return;
    table_.columns.push_back(std::move(column));
    cells_.push_back(std::move(cell));
  }
  /// The table with a line for each of the rows.
  template <typename Rows>
  DataTable of(const Rows& rows) && {
    for (const Row& row : rows) {
      std::vector<DataCell>& line = table_.rows.emplace_back();
      for (const auto& cell : cells_) line.push_back(cell(row));
    }
    return std::move(table_);
  }

 private:
  DataTable table_;
  std::vector<std::function<DataCell(const Row&)>> cells_;
};

/// Numbers that replace texts too long for a column: the brief form of the first is "1", and the legend shows
/// "case 1: ...".
class NumberedTexts {
 public:
  explicit NumberedTexts(std::string kind) : kind_(std::move(kind)) {}
  DataCell cell(const std::string& text, bool names_kind = false);  ///< names_kind: "case 1" instead of "1"
  void explain(std::vector<std::string>& legend) const;

 private:
  std::string kind_;
  std::vector<std::string> texts_;
};

}  // namespace ddbench::reports
