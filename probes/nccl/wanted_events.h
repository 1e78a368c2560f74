#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ddbench::nccl {

/// Switches the kernels' events on ("1") or off ("0"), whatever speaks for or against them.
inline constexpr const char* kKernelEventsVariable = "DDBENCH_NCCL_KERNEL_EVENTS";

/// What decides which events NCCL is asked for.
struct EventConditions {
  int interface = 0;  ///< version of the plug-in interface that NCCL uses; 4: NCCL 2.27, and no other
  std::uint64_t shared_memory_bytes = 0;  ///< size of /dev/shm; 0: not known
  bool kernels_are_recorded = false;      ///< by CUPTI: an event without times of its own gets those of its kernel
  int communicators = 1;                  ///< of more than one rank that the process has open
  bool captures_graphs = false;           ///< a collective was captured into a CUDA graph
  bool transport_is_known = false;        ///< or cannot be
  std::optional<bool> chosen;             ///< by kKernelEventsVariable
};

/// Why the times of kernels (KernelCh, KernelPhase) and the proxies' operations are not asked for; empty if
/// they are. They cost most of what the plug-in costs (4-13% of a step in NCCL 2.31: NVIDIA/nccl issue 2355),
/// crash NCCL where /dev/shm is as small as Docker makes it (pull request 2326), abort jobs of 2.27 (issue
/// 2039), and put work on the host before each collective of a graph (issue 1805). Where CUPTI records the
/// kernels, an event gets the times of its own: the kernel that has its key, or the next of its function.
/// With several communicators, whose kernels overtake each other, only their times tell them apart.
std::string_view why_no_kernel_events(const EventConditions& conditions) noexcept;

/// NCCL's activation mask.
int wanted_events(const EventConditions& conditions) noexcept;

/// "1" or "0" of the environment; nothing for all else.
std::optional<bool> chosen_kernel_events() noexcept;

/// Of the file system of /dev/shm; 0 where there is none.
std::uint64_t shared_memory_bytes() noexcept;

}  // namespace ddbench::nccl
