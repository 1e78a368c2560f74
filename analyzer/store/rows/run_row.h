#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/store/rows/case_cache.h"
#include "analyzer/store/rows/run_texts.h"
#include "analyzer/store/sqlite/database.h"
#include "core/run_case/records.h"

namespace ddbench::store {

/// INSERT, and UPDATE by id, of the whole row.
void insert_run(const Database& database, const RunRecord& run, const RunTexts& texts);
/// False when there is no run of this id.
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
