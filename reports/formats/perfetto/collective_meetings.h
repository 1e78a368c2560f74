#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "core/clock.h"
#include "core/span.h"

namespace ddbench::reports::trace {

/// False for a span that cannot be shown: it ends before it begins, or its times are out of range.
bool can_be_shown(const Span& span);

/// The first and the last rank to arrive at one collective, on the reference clock: of all ranks, and of those that are
/// shown.
struct Meeting {
  struct Arrival {
    std::int64_t at_ns = 0;
    int rank = -1;  ///< -1: none yet
  };
  Arrival last;
  Arrival first_shown;
  Arrival last_shown;
  int latest_rank = -1;  ///< the last one that was added
  int ranks = 0;
  int shown = 0;
  std::uint32_t number = 0;  ///< number of this meeting within the run, from 1
};

/// All collectives of a run, gathered rank by rank, in the order of ranks. Its memory grows with the number of
/// collectives (about 100 bytes each), not with the number of ranks.
class CollectiveMeetings {
 public:
  /// The next spans of a rank. `is_shown`: the trace has that rank.
  void add(int rank, bool is_shown, std::span<const Span> spans, const ClockMap& clock);
  /// Null when the span is no collective, or no other rank recorded it.
  const Meeting* find(const Span& span) const;

  std::int64_t origin_ns() const noexcept {
    return origin_ns_;
  }  ///< the first begin of all spans; 0 if there are none
  std::int64_t end_ns() const noexcept { return end_ns_; }
  std::uint64_t damaged() const noexcept { return damaged_; }
  std::size_t size() const noexcept { return meetings_.size(); }

 private:
  std::unordered_map<std::uint64_t, Meeting> meetings_;
  std::int64_t origin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::uint64_t damaged_ = 0;
  bool any_ = false;
};

}  // namespace ddbench::reports::trace
