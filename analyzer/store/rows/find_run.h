#pragma once

#include <string_view>

#include "analyzer/store/rows/run_row.h"
#include "analyzer/store/sqlite/database.h"
#include "core/run_case/records.h"

namespace ddbench::store {

/// RunStore::find.
RunRecord find_run(const Database& database, std::string_view reference, const OnUnreadable& leave_out);
/// RunStore::find_id.
RunId find_id(const Database& database, std::string_view id_or_part, const OnUnreadable& leave_out);

}  // namespace ddbench::store
