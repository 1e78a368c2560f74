#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
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
  /// The run that was created last. Within the same transaction its rows follow at once, and need no look-up.
  struct Created {
    RunId id;
    std::int64_t key = 0;
    std::int64_t transaction = 0;  ///< Database::transactions()
    bool has_ranks = false;
    bool has_steps = false;
  };
  Created created;
  bool is_just_created(const RunId& id) const {
    return created.id == id && created.transaction == database.transactions() && database.in_transaction();
  }
  /// Rows are about to be written to the run: whether it is a single one that can replace no other. `has` becomes true.
  bool is_only_row(const RunId& id, bool Created::*has, std::size_t rows) {
    return is_just_created(id) && !std::exchange(created.*has, true) && rows == 1;
  }
};

}  // namespace ddbench::store
