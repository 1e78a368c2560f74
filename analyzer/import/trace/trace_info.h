#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace ddbench::imports {

/// What a trace says of its job and machine beside its events.
struct TraceInfo {
  std::optional<int> rank;
  std::optional<int> world_size;
  std::string backend;
  std::string nccl_version;
  std::int64_t base_ns = 0;           ///< since 1970, of what its times are counted from
  std::map<std::string, int> groups;  ///< ranks by the name of a process group
  int devices = 0;                    ///< GPUs of the machine; 0: not said
  std::string device_model;
  std::string host;  ///< of the machine; empty: not said
};

/// N of the last "rank" with a number behind it: "resnet_rank-3.json.gz", "rank7/trace.json"; empty where there is none.
std::optional<int> rank_in_path(const std::filesystem::path& file);

}  // namespace ddbench::imports
