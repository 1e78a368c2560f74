#pragma once

#include <string>
#include <vector>

#include "database.h"
#include "ddbench/store/records.h"

namespace ddbench::store {

/// INSERT, and UPDATE by id, of the whole row.
void insert_run(const Database& database, const RunRecord& run);
/// False when there is no run of this id.
bool replace_run(const Database& database, const RunRecord& run);

/// `condition` is SQL after WHERE (never user input) with one `?` for each text; newest first. limit 0: all.
std::vector<RunRecord> select_runs(const Database& database, const std::string& condition,
                                   const std::vector<std::string>& texts, int limit);

}  // namespace ddbench::store
