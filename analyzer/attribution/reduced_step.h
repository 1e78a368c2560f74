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

/// What is kept of a rank's step where not every span of it is wanted. Collectives and the step itself stay
/// as they are. The rest becomes few spans (`name_id` is theirs, lane main, no bytes) that leave every part
/// of the partition, communication and overlap as they were, whatever the peers' arrivals. With one
/// exception: where compute runs beside a collective with gaps between its spans, only the `most_gaps`
/// longest of a step stay where they are; the shorter ones are moved to the end of the compute that they lay
/// in. An arrival of the last peer in there moves between exposed transfer and exposed peer wait what is at
/// most the sum of the gaps moved; their own sum stays.
///
/// `spans` are those of the step, in any order; `others` what the rank recorded of the steps before and after
/// it. Nothing when it cannot be done so: there is not one kStep span, or a span that is no collective
/// reaches over an end of the step. O(n log n).
std::optional<std::vector<Span>> reduce_step(std::span<const Span> spans, std::span<const Span> others,
                                             std::uint32_t name_id, std::size_t most_gaps = 16);

}  // namespace ddbench::analyzer
