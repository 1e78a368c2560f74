#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace ddbench::imports {

/// Information of a trace about its job and machine, apart from its events.
struct TraceInfo {
  std::optional<int> rank;
  std::optional<int> world_size;
  std::string backend;
  std::string nccl_version;
  std::int64_t base_ns = 0;           ///< since 1970: the origin of its times
  std::map<std::string, int> groups;  ///< ranks by the name of a process group
  int devices = 0;                    ///< GPUs of the machine; 0: not stated
  std::string device_model;
  std::string host;  ///< of the machine; empty: not stated
};

/// N of the last "rank" that is not the end of a longer word and has a number behind it: "resnet_rank-3.json.gz", "rank7/trace.json";
/// empty if there is none.
std::optional<int> rank_in_path(const std::filesystem::path& file);

}  // namespace ddbench::imports
