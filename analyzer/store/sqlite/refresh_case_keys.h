#pragma once

#include <string>
#include <string_view>

#include "analyzer/store/sqlite/database.h"

namespace ddbench::store {

/// What run.case_key holds of a case_key() (FORMAT.md): 128 bits of hash, in hexadecimal. The text itself, in the row and
/// in its index, would be most of a store of many runs.
std::string stored_case_key(std::string_view case_key);

/// Computes run.case_key anew from run.case_json. A new field of RunCase changes every key; without this,
/// runs from before it would not be found by the key that this program computes.
void refresh_case_keys(const Database& database);

}  // namespace ddbench::store
