#pragma once

#include "core/facts/facts.h"
#include "core/run_case/run_case.h"

namespace ddbench {

/// Values of the fact steps.ended_by, which is absent where something else ended the run.
inline constexpr const char* kEndedByMargin = "margin";
inline constexpr const char* kEndedByTime = "max-time";

/// Steps that a run did that came to its end, warm-up included.
inline int steps_done(const RunCase& run_case, const Facts& facts) {
  if (!run_case.ends_by_margin()) return run_case.total_steps();
  return static_cast<int>(get_fact(facts, fact_key<"steps.done">).value_or(0));
}

}  // namespace ddbench
