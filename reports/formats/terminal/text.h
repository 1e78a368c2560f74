#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"
#include "reports/formats/terminal/layout/data_table_text.h"

namespace ddbench::reports {

struct TextStyle {
  bool color = false;  ///< ANSI colours: only on a terminal that shows them, never with NO_COLOR
  int width = 100;     ///< columns; in tables wider content is shortened, or continued on further lines in the last column
  bool keeps_columns = false;  ///< tables become wider than that rather than leave out columns: for files and pipes
};

inline LineWidth line_width(const TextStyle& style, int least = 20) {
  return {static_cast<std::size_t>(std::max(style.width, least)), style.keeps_columns};
}

/// The output of `ddbench show`, and of `ddbench run` at its end. Control characters in names are escaped.
std::string run_text(const analyzer::RunSummary& summary, const TextStyle& style);
std::string scaling_text(const analyzer::ScalingTable& table, const TextStyle& style);
/// What to do after a report (reports/tables/next_steps.h), with an empty line before it; empty without rows.
std::string next_steps_text(const DataTable& steps, const TextStyle& style);
/// `all`: how many runs there are, these among them.
std::string run_list_text(const std::vector<analyzer::RunSummary>& runs, const TextStyle& style, std::int64_t all = 0);

}  // namespace ddbench::reports
