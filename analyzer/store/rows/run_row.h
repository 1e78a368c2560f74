#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/store/rows/case_cache.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "core/run_case/records.h"

namespace ddbench::store {

/// The rows of the table `run` only. After an error some of several may be in the transaction.
void insert_runs(const Database& database, std::span<const CompleteRun> runs);
/// Every column of the run's row but its id. False when there is no run of this id.
bool replace_run(const Database& database, const RunRecord& run, CaseCache& cases);

using OnUnreadable = std::function<void(const UnreadableRun&)>;
using VisitRun = std::function<bool(RunRecord&&)>;

/// `condition` is SQL after WHERE (never user input) with one `?` for each text; newest first, until `visit`
/// returns false. A row that cannot be read is passed to `leave_out`; without it, it is an Error{kRunFailed}
/// that names run and reason.
void visit_runs(const Database& database, const std::string& condition, const std::vector<std::string>& texts,
                const VisitRun& visit, const OnUnreadable& leave_out = {}, CaseCache* cases = nullptr);
/// The same as a list. limit 0: all; unreadable rows do not count.
std::vector<RunRecord> select_runs(const Database& database, const std::string& condition,
                                   const std::vector<std::string>& texts, int limit,
                                   const OnUnreadable& leave_out = {}, CaseCache* cases = nullptr);

}  // namespace ddbench::store
