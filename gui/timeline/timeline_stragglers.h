#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/span.h"

namespace ddbench::gui {

/// A rank that came to a collective after all others had.
struct Straggler {
  std::int64_t at_ns = 0;      ///< when it came, aligned to the run's reference clock
  std::int64_t caused_ns = 0;  ///< how long after the one before it: the wait that it alone caused
  int rank = 0;
  std::uint32_t step = kNoStep;
};

/// The last and the last but one arrival at each collective. Spans come rank by rank.
class Arrivals {
 public:
  void add(const Span& span, int rank, std::int64_t begin_ns);
  /// The largest waits above `resolution_ns`, kMostStragglers at most, in the order of time. Empty afterwards.
  std::vector<Straggler> finish(std::int64_t resolution_ns);

  static constexpr std::size_t kMostStragglers = 200;

 private:
  /// A rank that records one collective on two lanes, in any order, comes to it once: at its earliest span.
  struct Arrival {
    std::int64_t at_ns = 0;
    int rank = 0;
    std::uint32_t step = kNoStep;
  };
  struct Collective {
    Arrival last;
    std::int64_t before_ns = 0;
    Arrival newest;  ///< of the rank whose spans come now; not yet in `last` and `before_ns`
    int ranks = 0;   ///< without that of `newest`
  };
  static void take_newest(Collective& collective);

  std::unordered_map<std::uint64_t, Collective> collectives_;
};

/// The next one after `after_ns` (before it, with `backwards`); null: there is none.
const Straggler* next_straggler(const std::vector<Straggler>& stragglers, std::int64_t after_ns, bool backwards);

}  // namespace ddbench::gui
