#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/sqlite/database.h"

namespace ddbench::fuzz {

/// What a script of the target `stores` can name: its tables, their columns, and values that a store has there, as scripts write them.
using StoreValues = std::map<std::string, std::map<std::string, std::vector<std::string>>>;

/// Of `run` and of each table whose rows hang on one; a few different values for each column.
StoreValues values_of(const store::Database& database);

/// The script with one to four lines added, changed or removed: names are those of the store, values are often such as are hard to take.
/// Bytes that libFuzzer changes seldom name a column.
std::string mutated_script(std::string_view script, const StoreValues& values, unsigned seed);

}  // namespace ddbench::fuzz
