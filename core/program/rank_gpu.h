#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddbench {

/// The GPU that a process of a program uses.
struct RankGpu {
  std::string uuid;     ///< 32 hexadecimal digits: of the GPU, or of its part under MIG; the same on one GPU only
  std::string bus_id;  ///< "0000:17:00.0"; empty where it is not known
  friend bool operator==(const RankGpu&, const RankGpu&) = default;
};

/// The name that a process interns to report it (core/name_table.h): "gpu: 0123...cdef 0000:17:00.0". Written by
/// probes/python/ddbench_inputs.py.
std::string rank_gpu_name(const RankGpu& gpu);
/// Nothing where `name` is another name, or has another form.
std::optional<RankGpu> parse_rank_gpu(std::string_view name);

}  // namespace ddbench
