#pragma once

#include <algorithm>
#include <cstdint>

#include "core/facts/facts.h"
#include "core/run_case/run_case.h"

namespace ddbench {

/// Values of the fact steps.ended_by, which is absent where something else ended the run.
inline constexpr const char* kEndedByMargin = "margin";
inline constexpr const char* kEndedByTime = "max-time";

/// The first step that a run did itself: those before are of runs that it continues.
inline int first_own_step(const Facts& facts) {
  return static_cast<int>(std::clamp<std::int64_t>(get_fact(facts, fact_key<"resumed.at_step">).value_or(0), 0, kMostSteps));
}

/// The first step of which figures are made; `facts` of the run.
inline std::uint32_t first_measured_step(const RunCase& run_case, const Facts& facts) {
  return run_case.first_measured_step(static_cast<std::uint32_t>(first_own_step(facts)));
}

/// Steps that a run did itself that came to its end, warm-up included.
inline int steps_done(const RunCase& run_case, const Facts& facts) {
  const auto last = run_case.ends_by_margin() ? static_cast<int>(get_fact(facts, fact_key<"steps.done">).value_or(0))
                                              : run_case.total_steps();
  return std::max(last - first_own_step(facts), 0);
}

}  // namespace ddbench
