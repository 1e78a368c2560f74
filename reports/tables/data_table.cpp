#include "reports/tables/data_table.h"

#include <utility>

#include "reports/text/phrases.h"

namespace ddbench::reports {

DataCell text_cell(std::string text, CellTone tone) {
  return {std::move(text), std::nullopt, tone, {}, false};
}

DataCell code_cell(std::string text) {
  return {std::move(text), std::nullopt, CellTone::kPlain, {}, true};
}

DataCell value_cell(double value, std::string text, CellTone tone) {
  return {std::move(text), value, tone, {}, false};
}

DataCell time_cell(double time_ns) {
  return value_cell(time_ns, time_in_words(time_ns));
}

DataCell count_cell(std::int64_t count) {
  return value_cell(static_cast<double>(count), count_in_words(count));
}

DataCell missing_cell(std::string reason) {
  return {"–", std::nullopt, CellTone::kFaint, std::move(reason), false};
}

}  // namespace ddbench::reports
