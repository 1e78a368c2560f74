#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ddbench::imports {

/// The details of a collective that PyTorch's profiler records.
struct CollectiveArguments {
  std::string_view name;   ///< "allreduce", "_allgather_base"; empty: not stated
  std::string_view dtype;  ///< "Float"
  std::uint64_t in_elements = 0;
  std::uint64_t out_elements = 0;
  std::string_view group;        ///< "Process Group Name"
  std::string_view group_ranks;  ///< "[0, 1]"; where there are many: "[0, 2, ...]"
  int group_size = 0;            ///< 0: not stated
  std::optional<std::uint64_t> sequence;
};

/// A complete event ("ph": "X") of a trace. Texts are valid while the call that got it lasts.
struct TraceEvent {
  std::string_view category;  ///< "kernel", "cpu_op", ...; empty in traces without Kineto
  std::string_view name;
  std::int64_t begin_ns = 0;  ///< as in the file, without its base
  std::int64_t end_ns = 0;
  std::int64_t thread = 0;  ///< a hash where it is a text
  std::optional<std::uint64_t> correlation;
  std::optional<std::uint64_t> autograd_sequence;
  bool is_backward = false;  ///< an operator that the autograd engine runs for a forward thread
  std::int64_t device = -1;
  std::int64_t stream = -1;  ///< of the GPU; -1: not stated
  std::uint64_t bytes = 0;        ///< of a copy
  std::uint64_t first_elements = 0;  ///< elements of the first tensor among its inputs
  std::string_view first_type;       ///< "float"
  CollectiveArguments collective;
};

}  // namespace ddbench::imports
