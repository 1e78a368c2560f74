#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/diagnose/own_work.h"

namespace ddbench::analyzer {

/// Ranks that stop now and then, all in the same steps, and work as the others do in between.
struct Pauses {
  std::vector<std::size_t> ranks;  ///< places in the table, ascending
  std::vector<std::size_t> rows;   ///< of the table: the steps that were held up
  double length_ns = 0;            ///< median time of such a step beyond the median step
  double cost_share = 0;           ///< of the time of all steps, those with the probes off included
  std::size_t unprobed = 0;        ///< delayed steps with the probes off: the responsible rank is not known
  double explained = 0;            ///< of the lead of the slowest rank over the others beyond its median, summed over steps
  bool is_regular = false;         ///< the times between them are multiples of one time
  double period_steps = 0;         ///< of regular ones, in steps
  double period_ns = 0;            ///< of regular ones, in ns
};

/// A delayed step exceeds the median step by half of it and by 8 median deviations. The ranks whose own work
/// explains half of that are the ones that paused. Nothing for fewer than four such steps (fewer than two of
/// them with the probes on; fewer than four of these if the pauses are not regular or not all of the same
/// ranks), when no rank is in most of them, or when more than half of the ranks are.
std::optional<Pauses> find_pauses(const WorkTable& table);

/// Steps that were held up, by whomever, the probes on or off.
struct HeldUpSteps {
  std::size_t count = 0;
  double length_ns = 0;   ///< median time of such a step beyond the median step
  double cost_share = 0;  ///< of the time of all steps
};
HeldUpSteps held_up_steps(const WorkTable& table);

}  // namespace ddbench::analyzer
