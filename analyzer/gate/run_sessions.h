#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// A pause after which the machine is taken to be in another state.
inline constexpr std::chrono::minutes kSessionPause{60};

/// Indices into `runs`, grouped into sessions and in order of time: runs of one host and boot with less than
/// `pause` between the end of one and the start of the next.
std::vector<std::vector<std::size_t>> sessions_of(std::span<const store::RunRecord> runs,
                                                  std::chrono::nanoseconds pause = kSessionPause);

/// The order of two sides in time: it decides how much of a difference may be due to the machine rather than
/// to the change.
enum class SidesInTime {
  kInterleaved,  ///< runs in turns, so that each makes a pair with its neighbour
  kBlocks,       ///< one session; one side after the other, or mixed without making pairs
  kSessions,     ///< several sessions
};

struct RunPair {
  std::size_t baseline = 0;
  std::size_t candidate = 0;
  bool candidate_first = false;
};

/// Pairs of neighbours in time, in order of time, when the runs of both sides make such pairs: one run of
/// each side, both of one session. Either side may come first, also in every pair (A B A B ...): drift of the
/// machine cancels only where both do, see order_imbalance.
std::optional<std::vector<RunPair>> interleaved_pairs(std::span<const store::RunRecord> baseline,
                                                      std::span<const store::RunRecord> candidate,
                                                      std::chrono::nanoseconds pause = kSessionPause);

/// The share of pairs in which the baseline came first minus the share in which the candidate did: 0 is
/// balanced, 1 and -1 mean that one side always came first. `pairs` is not empty.
double order_imbalance(std::span<const RunPair> pairs);

/// In which order `gate --run` makes its pairs: element k is true when the candidate comes first in pair k.
/// Half of the pairs each (the odd one by chance), shuffled: with a fixed ABBA the neighbours'
/// autocorrelation would not cancel between pairs.
std::vector<bool> interleaved_order(int pairs, std::uint64_t seed);

SidesInTime sides_in_time(std::span<const store::RunRecord> baseline,
                          std::span<const store::RunRecord> candidate,
                          std::chrono::nanoseconds pause = kSessionPause);

}  // namespace ddbench::analyzer
