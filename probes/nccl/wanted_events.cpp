#include "probes/nccl/wanted_events.h"

#include <sys/statvfs.h>

#include <cstdlib>

#include "probes/nccl/profiler_abi.h"

namespace ddbench::nccl {
namespace {

constexpr std::uint64_t kTooSmall = std::uint64_t{64} << 20;  // Docker's default
constexpr int kInterfaceOfNccl227 = 4;
constexpr int kFirstWithPhases = 7;

constexpr int kOnHost =
    static_cast<int>(kGroup | kColl | kP2p | kGroupApi | kCollApi | kP2pApi | kKernelLaunch);
constexpr int kOfKernels = static_cast<int>(kKernelCh | kProxyOp);
// One event per chunk of data: only until the transport of the bytes is known, or it is known that this NCCL
// does not report it, as most builds do not (NCCL_ENABLE_NET_PROFILING).
constexpr int kTransportProof = static_cast<int>(kProxyStep | kNetPlugin);

}  // namespace

std::string_view why_no_kernel_events(const EventConditions& conditions) noexcept {
  if (conditions.chosen) return *conditions.chosen ? std::string_view() : "DDBENCH_NCCL_KERNEL_EVENTS=0";
  if (conditions.captures_graphs) return "the program captures collectives into CUDA graphs";
  if (conditions.interface == kInterfaceOfNccl227) return "NCCL 2.27 may abort with them";
  if (conditions.shared_memory_bytes != 0 && conditions.shared_memory_bytes <= kTooSmall) {
    return "/dev/shm has no more than 64 MiB (docker run --shm-size=1g, or --ipc=host)";
  }
  if (conditions.kernels_are_recorded && conditions.communicators <= 1) return "CUPTI records the kernels";
  return {};
}

int wanted_events(const EventConditions& conditions) noexcept {
  if (!why_no_kernel_events(conditions).empty()) return kOnHost;
  int wanted = kOnHost | kOfKernels;
  if (conditions.interface >= kFirstWithPhases) wanted |= static_cast<int>(kKernelPhase);
  return conditions.transport_is_known ? wanted : wanted | kTransportProof;
}

std::optional<bool> chosen_kernel_events() noexcept {
  const char* const text = std::getenv(kKernelEventsVariable);
  const std::string_view chosen = text != nullptr ? text : "";
  if (chosen == "1") return true;
  if (chosen == "0") return false;
  return std::nullopt;
}

std::uint64_t shared_memory_bytes() noexcept {
  struct statvfs about {};
  if (::statvfs("/dev/shm", &about) != 0) return 0;
  return static_cast<std::uint64_t>(about.f_blocks) * about.f_frsize;
}

}  // namespace ddbench::nccl
