#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/program/phase_segments.h"

namespace ddbench::analyzer {

/// In which call of the program its host time lies.
enum class HostGap : std::uint8_t { kForward, kBackward, kOptimizer, kElsewhere };

/// Nanoseconds of the steps from `first_counted` on in which the rank was in no operator, copy, collective or loader, by the phase
/// in which they lie. Elsewhere: between the phases, where the loop itself, callbacks and logging are. Time without a core counts
/// as well.
std::array<std::int64_t, 4> host_gaps(std::span<const Span> spans, const std::vector<PhaseSegment>& phases,
                                      const ProgramWindows& steps, std::size_t first_counted);

}  // namespace ddbench::analyzer
