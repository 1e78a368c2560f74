#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddbench::reports {

enum class CellTone { kPlain, kFaint, kStrong, kGood, kWarning, kBad };

/// Text as it is, not yet escaped for a format.
struct DataCell {
  std::string text;
  std::optional<double> sort_by;  ///< numbers and times; texts are sorted as texts
  CellTone tone = CellTone::kPlain;
  std::string why;       ///< what a reader may ask about the cell: why it is empty, how it was measured
  bool is_code = false;  ///< an identifier, a name, a path: shown as it is, in one face
};

struct DataColumn {
  std::string title;
  bool numeric = false;
  std::string meaning = {};  ///< a sentence, where the title does not say it
  bool is_prose = false;     ///< sentences: shortened where a line has no room for them
};

/// What a table says, for every format that has tables.
struct DataTable {
  std::string caption;
  std::string detail;  ///< a sentence below the caption
  std::vector<DataColumn> columns;
  std::vector<std::vector<DataCell>> rows;
  std::optional<std::vector<DataCell>> total;  ///< not sorted with the rows
};

DataCell text_cell(std::string text, CellTone tone = CellTone::kPlain);
DataCell code_cell(std::string text);
/// Sorted by `value`, shown as `text`.
DataCell value_cell(double value, std::string text, CellTone tone = CellTone::kPlain);
DataCell time_cell(double time_ns);
DataCell count_cell(std::int64_t count);
/// A dash, and why.
DataCell missing_cell(std::string reason);

}  // namespace ddbench::reports
