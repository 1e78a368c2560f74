#pragma once

#include <cstdint>
#include <span>

#include "core/run_case/run_case.h"

/// ZeRO's shards: every bucket is cut into as many equal shares as there are ranks, the last ones padded.
namespace ddbench::ddp {

/// The next multiple of `ranks`.
std::int64_t padded(std::int64_t elements, std::int64_t ranks);

/// What of a parameter of `elements` numbers, from `first` of its bucket on, lies in the share of a rank: numbers of the
/// bucket, from `begin` to `end`; none where end <= begin.
struct OwnPart {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
OwnPart own_part(std::int64_t first, std::int64_t elements, std::int64_t share, int rank);

/// Of all buckets, with what makes them divisible by the number of ranks.
std::int64_t padded_bytes(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes);
/// Of all buckets, what the rank owns without padding.
std::int64_t owned_bytes(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes, int rank);

/// Throws Error{kBadInput} for an optimizer that needs whole layers.
void check_shards(const RunCase& run_case);

}  // namespace ddbench::ddp
