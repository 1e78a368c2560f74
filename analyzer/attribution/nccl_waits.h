#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/span.h"

/// Peer waits as the GPU's own clock has them (kNcclInitialSync).
namespace ddbench::analyzer {

/// How long a rank waited for the last one in a collective, by key.
using NcclWaits = std::unordered_map<std::uint64_t, std::int64_t>;
/// When the last rank was there, on this rank's clock, by key.
using AllThere = std::unordered_map<std::uint64_t, std::int64_t>;

/// Removes the spans that state them.
NcclWaits take_nccl_waits(std::vector<Span>& spans, const std::vector<std::string>& names);
/// For the collectives among the spans; never after their end.
AllThere all_there(const NcclWaits& waits_ns, const std::vector<Span>& spans);
/// Adds spans that state them again, for what is stored.
void keep_nccl_waits(const AllThere& all_there_ns, std::vector<Span>& spans, std::vector<std::string>& names);

}  // namespace ddbench::analyzer
