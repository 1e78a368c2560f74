#pragma once

#include <string_view>

#include "database.h"
#include "ddbench/store/records.h"

namespace ddbench::store {

/// RunStore::find.
RunRecord find_run(const Database& database, std::string_view reference);

}  // namespace ddbench::store
