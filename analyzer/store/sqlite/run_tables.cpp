#include "analyzer/store/sqlite/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddbench::store {
namespace {

struct TableInfo {
  std::vector<std::string> columns;
  std::map<std::int64_t, std::string> primary_key;  ///< by place, from 1
};

TableInfo info_of(const Database& database, const std::string& table) {
  TableInfo info;
  Statement statement = database.prepare("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid");
  statement.bind(table);
  while (statement.step()) {
    std::string name;
    std::int64_t place = 0;
    statement.read(name, place);
    info.columns.push_back(name);
    if (place > 0) info.primary_key[place] = name;
  }
  return info;
}

std::vector<std::string> without_run_key(std::vector<std::string> names) {
  std::erase(names, "run_key");
  return names;
}

}  // namespace

std::vector<RunTable> run_tables(const Database& database) {
  std::vector<RunTable> tables;
  Statement statement = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  while (statement.step()) {
    RunTable table;
    statement.read(table.name);
    const TableInfo info = info_of(database, table.name);
    const bool hangs_on_run =
        std::find(info.columns.begin(), info.columns.end(), "run_key") != info.columns.end();
    if (table.name == "run" || !hangs_on_run) continue;
    table.columns = without_run_key(info.columns);
    for (const auto& [place, name] : info.primary_key) table.order.push_back(name);
    table.order = without_run_key(table.order);
    if (table.order.empty()) table.order = table.columns;
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<std::string> table_columns(const Database& database, const std::string& table) {
  return info_of(database, table).columns;
}

std::vector<std::string> run_columns(const Database& database) {
  return without_run_key(info_of(database, "run").columns);
}

}  // namespace ddbench::store
