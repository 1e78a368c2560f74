#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace ddbench::imports {

/// One call on one rank.
struct InspectorCall {
  std::string communicator;  ///< "0x9e7a479f95a66c"
  int rank = 0;
  int ranks = 0;
  int nodes = 0;  ///< 0: not stated
  std::string host;
  std::string function;  ///< ddbench's word
  bool is_p2p = false;   ///< a send or a receive
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;  ///< as nccl-tests count
  std::int64_t duration_ns = 0;
  std::string nccl_algorithm;  ///< "RING LL128, 8 channels"; empty: not stated
  std::string timing_source;   ///< "kernel_gpu", "kernel_cpu", "collective_cpu"; empty: not stated
};

struct InspectorFile {
  std::uint64_t hash = 0;
  bool is_cut_off = false;  ///< its last line is not whole
};

/// Calls `take` for each line of a file. Errors as read_nccl_inspector.
InspectorFile read_inspector_lines(const std::filesystem::path& file, const std::function<void(InspectorCall&&)>& take);

}  // namespace ddbench::imports
