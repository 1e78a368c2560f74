#pragma once

#include <functional>
#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::experiment {

struct TakeOver {
  bool forced = false;  ///< whatever its owner does
  /// If its owner gives no sign of life now: wait until it does, or until it has given none for
  /// store::kStaleAfter_ns. For jobs that a scheduler restarts, where nobody would try again.
  bool waits = false;
  std::function<void(const std::string&)> tell;  ///< once, before it waits
};

/// Closes a run that is stored as running though no process drives it any more (store::why_gone): as
/// recover_run, with that as the reason. Does nothing to other runs. Throws Error{kBadInput} when a process
/// may still drive it; the message names the process, and the remedy.
void take_over(store::RunStore& store, const store::RunId& id, const TakeOver& how);

}  // namespace ddbench::experiment
