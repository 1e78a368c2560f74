#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/import/trace/trace_event.h"

namespace ddbench::imports {

/// ddbench's name for a collective as PyTorch's profiler names it ("allreduce", "_allgather_base",
/// "all_to_allv", "_reduce_scatter_base"); empty for a name unknown to ddbench ("coalesced", "wait").
std::string_view collective_function(std::string_view name) noexcept;

/// Bytes of an element of a type: "Float", "c10::BFloat16", "float"; 0 where it is not known.
std::uint64_t bytes_of_type(std::string_view type) noexcept;

/// As nccl-tests count: the larger of a rank's input and output. 0 if the trace does not state them.
std::uint64_t bytes_of(const CollectiveArguments& arguments) noexcept;

/// As nccl-tests count, where NCCL states the bytes of one rank's message: all_gather, reduce_scatter and all_to_all move one for each of
/// the `ranks`. Nothing where their number is needed and not known (0), and for more than kMostBytes.
std::optional<std::uint64_t> bytes_of_all_ranks(std::string_view function, std::uint64_t message_bytes, int ranks) noexcept;

/// Whether ranks wait for each other in it as a group: true for all functions except send and receive.
bool is_group_function(std::string_view function) noexcept;

}  // namespace ddbench::imports
