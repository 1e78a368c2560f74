#pragma once

#include <functional>
#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::experiment {

struct TakeOver {
  bool forced = false;  ///< whatever its owner does
  /// Where its owner gives no sign of life now: wait until it does, or has not for store::kStaleAfter_ns. For jobs that a
  /// scheduler starts again without anybody who would try once more.
  bool waits = false;
  std::function<void(const std::string&)> tell;  ///< once, before it waits
};

/// Closes a run that is stored as running though nobody drives it any more (store::why_gone): as recover_run, with that as the
/// reason. Does nothing to other runs. Throws Error{kBadInput} when somebody may still drive it; the message says who, and
/// what to do.
void take_over(store::RunStore& store, const store::RunId& id, const TakeOver& how);

}  // namespace ddbench::experiment
