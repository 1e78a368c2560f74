#include "harness/experiment/run/gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/training/footprint.h"
#include "probes/nvml/gpu_monitor.h"

namespace ddbench::experiment {

int usable_gpus(const host::Machine& machine) {
  const int here = static_cast<int>(machine.gpus.size());
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return here;
  const std::string_view list(visible);
  const auto named = list.empty() ? 0 : 1 + std::count(list.begin(), list.end(), ',');
  return static_cast<int>(std::min<std::ptrdiff_t>(here, named));
}

bool shares_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share) {
  const bool on_gpus = run_case.on_gpus() || (is_program(run_case) && may_share);
  const int gpus = usable_gpus(machine);
  return on_gpus && gpus > 0 && run_case.world_size() > gpus;
}

void check_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share) {
  if (may_share || !shares_gpus(run_case, machine, false)) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{} ranks ({} x {}) need as many GPUs, and this machine has {}. Start them where the GPUs "
                  "are (--hosts, or inside a Slurm allocation), take --device cpu, or let ranks share "
                  "GPUs with --share-gpus: the run is then marked oversubscribed",
                  run_case.world_size(), run_case.nodes, run_case.gpus_per_node, usable_gpus(machine)));
}

std::int64_t cuda_reserve_bytes(std::int64_t gpu_bytes, int sharing) {
  if (sharing <= 1) return kCudaReserveBytes;
  constexpr std::int64_t kLargestShare = 4;  // the reserve is at most a quarter of a share
  return std::min(kCudaReserveBytes, gpu_bytes / sharing / kLargestShare);
}

void check_gpu_memory(const RunCase& run_case, std::int64_t gpu_bytes, int sharing) {
  const std::int64_t reserve = cuda_reserve_bytes(gpu_bytes, sharing);
  const std::int64_t room = gpu_bytes / std::max(1, sharing) - reserve;
  const std::int64_t needed = ddp::largest_footprint(run_case).total();
  if (needed <= room) return;
  const auto gigabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  const std::vector<std::string> ways = ddp::ways_to_fit(run_case, room);
  throw Error(ErrorCode::kEnvironment,
              fmt::format("a rank needs {:.1f} GB for its tensors, and a GPU of {:.1f} GB{} has room for {:.1f} GB beside "
                          "{:.1f} GB for CUDA and NCCL. What fits: {}. See `ddbench fit`",
                          gigabytes(needed), gigabytes(gpu_bytes), sharing > 1 ? fmt::format(" that {} ranks share", sharing) : "",
                          gigabytes(std::max<std::int64_t>(room, 0)), gigabytes(reserve),
                          ways.empty() ? "a smaller model, or a larger GPU" : fmt::format("{}", fmt::join(ways, ", "))),
              0, "memory");
}

void check_gpu_memory(const RunCase& run_case, const host::Machine& machine) {
  if (!run_case.on_gpus()) return;
  std::string why_not;
  const auto source = cuda::open_nvml(why_not);
  if (source == nullptr) return;
  std::int64_t largest = 0;  // a smaller one may be hidden from the ranks, or drive a display
  for (const cuda::GpuSample& gpu : source->read()) {
    const auto bytes = static_cast<std::int64_t>(gpu.memory_bytes.value_or(0));
    largest = std::max(largest, bytes);
  }
  const int gpus = std::max(1, usable_gpus(machine));
  if (largest > 0) check_gpu_memory(run_case, largest, (run_case.world_size() + gpus - 1) / gpus);
}

}  // namespace ddbench::experiment
