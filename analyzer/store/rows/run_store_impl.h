#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "analyzer/store/rows/run_row.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"

namespace ddbench::store {

class RunStore::Impl {
 public:
  explicit Impl(Database opened) : database(std::move(opened)) {}

  /// Throws Error{kBadInput} when there is no such run.
  std::int64_t run_key(const RunId& id) const;
  /// The same for a call that writes to the run: of one that is driven, it must still be this process's (RunStore::drive).
  std::int64_t run_key_to_write(const RunId& id) const;
  /// The ranks, with their clocks, and steps of runs that have none yet and whose keys are first_key, first_key + 1, ...
  void insert_measurements(std::int64_t first_key, std::span<const CompleteRun> runs) const;
  /// Why the driven run is this process's no more; empty if it is.
  std::string why_lost() const;

  /// The function that leaves out an unreadable run: it notifies the handler the first time.
  OnUnreadable leave_out() {
    return [this](const UnreadableRun& run) {
      if (left_out.insert(run.id).second && handler) handler(run);
    };
  }

  Database database;
  std::function<void(const UnreadableRun&)> handler;
  std::set<RunId> left_out;
  CaseCache cases;
  RunId driven;  ///< empty: none
};

}  // namespace ddbench::store
