#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/span.h"

namespace ddbench::analyzer {

/// Name of the spans that stand for others.
inline constexpr std::string_view kReducedName = "(reduced)";

/// Reduces a rank's step when not every span of it is needed. Collectives and the step itself are kept
/// unchanged. The rest becomes few spans (with name `name_id`, lane main, no bytes) that preserve every part
/// of the partition, communication and overlap, whatever the peers' arrivals. There is one exception: where
/// compute runs beside a collective with gaps between its spans, only the `most_gaps` longest gaps of a step
/// keep their position; the shorter ones are moved to the end of the compute in which they lay. If the last
/// peer arrives there, the reduction moves time between exposed transfer and exposed peer wait, at most the
/// sum of the moved gaps; their total is unchanged.
///
/// `spans` are those of the step, in any order; `others` are the rank's spans of the steps before and after
/// it. Returns nothing if the step cannot be reduced: there is not exactly one kStep span, or a span other
/// than a collective extends over an end of the step. O(n log n).
std::optional<std::vector<Span>> summarize_step(std::span<const Span> spans, std::span<const Span> others,
                                             std::uint32_t name_id, std::size_t most_gaps = 16);

}  // namespace ddbench::analyzer
