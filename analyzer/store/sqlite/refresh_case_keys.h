#pragma once

#include "analyzer/store/sqlite/database.h"

namespace ddbench::store {

/// Computes run.case_key anew from run.case_json. A new field of RunCase changes every key; without this,
/// runs from before it would not be found by the key that this program computes.
void refresh_case_keys(const Database& database);

}  // namespace ddbench::store
