#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/link/slow_link.h"
#include "analyzer/diagnose/own_work.h"
#include "core/measured.h"

namespace ddbench::analyzer {

enum class Cause : std::uint8_t {
  kHealthy,          ///< less than 10% of the step is lost to waiting
  kSlowCompute,      ///< the same work takes longer on these ranks
  kContention,       ///< their threads wait for a core
  kDataLoading,      ///< they wait for their data loader
  kHostGaps,         ///< they spend more between operators
  kPauses,           ///< they stop now and then
  kLateStart,        ///< they began later than the others
  kMovingImbalance,  ///< another rank in each step
  kSlowLink,         ///< a node's link, or that between two of them, is slower than the others
  kSlowOperator,     ///< one operator takes longer on all ranks than before, or than in another run
  kJitter,           ///< ranks wait for each other, and no cause explains 80% of it
};
std::string_view to_string(Cause cause) noexcept;  ///< "healthy", "slow_compute", ...
/// Whether the cause names a rank, a node or a way of dividing work. Healthy and jitter do not.
constexpr bool is_accusation(Cause cause) noexcept { return cause != Cause::kHealthy && cause != Cause::kJitter; }

/// A place to look at in the timeline.
struct Evidence {
  int rank = 0;
  std::uint32_t step = 0;
  std::string what;  ///< "own work 12.1 ms, the others' 8.0 ms"
};

/// Why a run is slower than it need be, as far as ranks that wait for each other show it.
struct Diagnosis {
  Cause cause = Cause::kHealthy;
  std::vector<int> ranks;  ///< named ranks; empty if none is named
  std::vector<int> nodes;  ///< of these ranks
  std::string host;        ///< of these ranks, where it is one
  bool is_whole_node = false;  ///< all ranks of `nodes`, and these have several ranks or there are several nodes
  std::uint32_t first_step = 0;  ///< of the steps that it is about, counted from 0 with warm-up
  std::uint32_t last_step = 0;
  bool from_begin = true;        ///< since the first measured step
  bool to_end = true;
  double slower = 0;          ///< 0.31: the part that is longer takes 31% longer than on the others; 0: not known
  double excess_ns = 0;       ///< own work of the ranks above the others', a step
  double cost_share = 0;      ///< of the step time, in these steps
  double explained = 0;       ///< of the wait for the slowest rank, in these steps
  double lost_share = 0;      ///< of the step time in all steps: the slowest rank's work above the median of the others
  double period_steps = 0;    ///< of regular pauses; 0: not regular
  double pause_ns = 0;
  std::string operator_name;  ///< that has most of the excess, where one has
  double operator_share = 0;  ///< of the excess
  std::optional<SlowLink> link;  ///< of kSlowLink
  store::RunId reference;     ///< of kSlowOperator: the run that it is compared with; empty: steps before
  std::string confidence;     ///< "high" or "medium", and why
  std::vector<Evidence> evidence;
  std::vector<std::string> next_checks;
  std::vector<std::string> notes;  ///< what could not be examined, and why
  int steps = 0;                   ///< that were looked at: measured, with the probes on
};

/// Uses the table alone; the operator and the machine's counters are not known here. Missing, with the
/// reason, for one rank and for fewer than 12 steps.
///
/// A rank's own work in a step is its work before it waits for others. Ranks are accused when three
/// conditions hold in a window of at least 12 steps: without their excess over the other ranks' median the
/// slowest rank's work would be shorter by 10% of the step time; the lead of the slowest rank over the others
/// would fall by 80% (in means of 8 steps or more, as single steps have chance in them); and the 99.9%
/// interval of the ratio of works, which allows for autocorrelation, lies above 1. The excess must also be
/// three times as large as the swings of the other ranks. tests/bench/diagnose prints how often healthy runs
/// are accused, and how often the culprit is found.
Measured<Diagnosis> diagnose(const WorkTable& table);

/// The verdict in one sentence: "rank 5 (node 1, host b) computes 31% slower since step 2,100 and costs 18% of the step".
std::string verdict_in_words(const Diagnosis& diagnosis);

}  // namespace ddbench::analyzer
