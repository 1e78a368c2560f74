#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/span.h"

namespace ddbench::reports::trace {

/// One span on the reference clock, as it is drawn.
struct Slice {
  const Span* span = nullptr;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// One thread in the trace: its slices in order of begin, each nested in or after the preceding ones.
struct Track {
  std::string name;
  int number = 0;  ///< unique within the rank, orders the tracks
  std::vector<Slice> slices;
};

/// The steps, then the lanes; a lane whose spans overlap without nesting becomes several tracks ("main",
/// "main 2").
std::vector<Track> tracks_of(std::span<const Span> spans, const ClockMap& clock);

}  // namespace ddbench::reports::trace
