#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/import/trace/trace_event.h"

namespace ddbench::imports {

/// ddbench's word for a collective as PyTorch's profiler names it ("allreduce", "_allgather_base", "all_to_allv",
/// "_reduce_scatter_base"); empty where it names none that ddbench knows ("coalesced", "wait").
std::string_view collective_function(std::string_view name) noexcept;

/// Bytes of an element of a type: "Float", "c10::BFloat16", "float"; 0 where it is not known.
std::uint64_t bytes_of_type(std::string_view type) noexcept;

/// As nccl-tests count: the larger of what a rank gives and what it gets. 0 where the trace does not say.
std::uint64_t bytes_of(const CollectiveArguments& arguments) noexcept;

/// Whether ranks wait for each other in it as a group: all but sending and receiving.
bool is_group_function(std::string_view function) noexcept;

}  // namespace ddbench::imports
