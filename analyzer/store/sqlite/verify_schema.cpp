#include "analyzer/store/sqlite/verify_schema.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "core/error.h"

namespace ddbench::store {
namespace {

struct Definition {
  std::string type;
  std::string table;
  std::string sql;
  friend bool operator==(const Definition&, const Definition&) = default;
};
using Schema = std::map<std::string, Definition>;  // by name

Schema schema_of(const Database& database) {
  Schema schema;
  // What ANALYZE leaves is data for SQLite's planner.
  Statement objects = database.prepare(
      "SELECT name, type, tbl_name, ifnull(sql, '') FROM sqlite_schema WHERE name NOT IN ('sqlite_stat1', "
      "'sqlite_stat4')");
  while (objects.step()) {
    std::string name;
    Definition definition;
    objects.read(name, definition.type, definition.table, definition.sql);
    schema[name] = std::move(definition);
  }
  return schema;
}

Schema schema_of_version(std::int64_t version, std::span<const Migration> migrations) {
  const Database model = Database::temporary("the schema");
  for (const Migration& migration : migrations) {
    if (migration.version <= version) model.execute(std::string(migration.sql).c_str());
  }
  return schema_of(model);
}

}  // namespace

void verify_schema(const Database& database, std::span<const Migration> migrations) {
  const std::string file = database.file().string();
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is not a store as ddbench makes it: {}", file, why), 0,
                file);
  };
  const Schema found = schema_of(database);
  const Schema expected = schema_of_version(database.integer("PRAGMA user_version"), migrations);
  for (const auto& [name, definition] : found) {
    const auto known = expected.find(name);
    if (known == expected.end()) {
      refuse(fmt::format(
          "it holds the {0} \"{1}\", which could run SQL of whoever made it. If it is yours, remove "
          "it: sqlite3 {2} 'DROP {0} \"{1}\"'",
          definition.type, name, file));
    }
    if (known->second != definition)
      refuse(fmt::format("its {} \"{}\" is defined differently", definition.type, name));
  }
  for (const auto& [name, definition] : expected) {
    if (!found.contains(name)) refuse(fmt::format("its {} \"{}\" is missing", definition.type, name));
  }
}

}  // namespace ddbench::store
