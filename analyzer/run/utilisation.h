#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

class SkuCatalogue;

/// The utilisation of a run's devices as shares of their peak.
struct Utilisation {
  /// For one device in the run's precision: from the catalogue for GPUs, measured for CPUs.
  Measured<double> peak_tflops = Measured<double>::missing("no peak known");
  Measured<double> tflops = Measured<double>::missing("no FLOPs known");  ///< of the model, per device
  Measured<double> mfu = Measured<double>::missing("no FLOPs known");  ///< of the model's FLOP/s
  Measured<double> hfu = Measured<double>::missing("no FLOPs known");  ///< of all FLOP/s that were done
  int devices = 1;  ///< physical ones, that share the FLOPs
};

/// The number of physical devices that the ranks used: on each host as many as there are ranks, but no more
/// than it has cores (or GPUs). 16 ranks on 2 cores had 2, and four ranks on one GPU had 1. The number of
/// ranks if that is not known.
int physical_devices(const store::RunRecord& run, std::span<const store::RankRecord> ranks);

/// Utilisation of a run with this throughput. `ranks`: its rank rows.
Utilisation utilisation_of(const store::RunRecord& run, std::span<const store::RankRecord> ranks,
                           double samples_per_s, const SkuCatalogue& catalogue);

/// What the allocators of the ranks' devices gave out at their peak (facts "memory."): on GPUs their memory, on CPUs the
/// tensors of the engine, a part of the host memory.
struct DeviceMemory {
  std::int64_t peak_bytes = 0;               ///< of the rank that had most
  std::vector<std::int64_t> bytes_of_ranks;  ///< one where all have as much
  std::vector<std::pair<std::string, std::int64_t>> parts;  ///< of that rank: {"parameters", ...}; without those of 0
  std::int64_t reserved_bytes = 0;           ///< by the driver for the allocator; 0: not known
  std::int64_t offloaded_bytes = 0;          ///< of the optimizer, in the host's memory beside it; 0: none
  Measured<std::int64_t> predicted_bytes = Measured<std::int64_t>::missing("not stored");

  std::int64_t of_rank(std::size_t rank) const {
    return bytes_of_ranks.size() == 1 ? bytes_of_ranks.front()
           : rank < bytes_of_ranks.size() ? bytes_of_ranks[rank]
                                          : 0;
  }
};
Measured<DeviceMemory> device_memory_of(const store::RunRecord& run);

/// A GPU as NVML saw it while the run was on, with all of its users.
struct GpuMemory {
  std::string gpu;  ///< "GPU 0", "node 1 GPU 0"
  std::int64_t peak_bytes = 0;
  std::int64_t bytes = 0;  ///< 0: not known
};
std::vector<GpuMemory> gpu_memory_of(const store::RunRecord& run);

/// peak_bytes of DeviceMemory; where no allocator reported it (programs), the largest peak of a GPU by NVML.
Measured<double> device_peak_bytes(const store::RunRecord& run);

}  // namespace ddbench::analyzer
