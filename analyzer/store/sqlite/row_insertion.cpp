#include "analyzer/store/sqlite/row_insertion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ddbench::store {
namespace {

std::string insert_sql(std::string_view verb, std::string_view table, const std::vector<std::string>& columns, std::size_t rows) {
  const std::vector<std::string_view> parameters(columns.size() + 1, "?");
  const std::vector<std::string> values(rows, fmt::format("({})", fmt::join(parameters, ", ")));
  return fmt::format("{} INTO {} ({}, {}) VALUES {}", verb, table, fmt::join(columns, ", "), kChecksumColumn, fmt::join(values, ", "));
}

}  // namespace

RowInsertion::RowInsertion(std::string_view verb, std::string_view verb_of_many, std::string_view table,
                           const std::vector<std::string>& columns)
    : order_(columns), one_(insert_sql(verb, table, columns, 1)), many_(insert_sql(verb_of_many, table, columns, kMany)) {}

}  // namespace ddbench::store
