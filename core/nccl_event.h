#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddbench {

/// ddbench's word for a function of NCCL ("AllReduce" -> "all_reduce"); empty when it knows none.
std::string_view nccl_function(std::string_view name_in_nccl) noexcept;

/// A small number that is the same in every build, for keys: 1 and up, 0 when the function (ddbench's word)
/// is not known.
int nccl_function_number(std::string_view function) noexcept;

/// Whether the engine has a name of its own for what it does with NCCL's functions: "push" and "pull" (all
/// ranks' sends and receives with one parameter server), "negotiate" (Horovod's agreement on the gradients
/// that are ready).
bool is_named_by_engine(std::string_view function) noexcept;

/// The NCCL function of a kernel's name, mangled or not: nullopt when the kernel is not NCCL's (nccl*); else
/// its function, "generic" when it serves any function, "" when ddbench does not know the name.
std::optional<std::string_view> nccl_kernel_function(std::string_view kernel) noexcept;

/// How NCCL performed a collective, as reported to its profiler plug-in. It is passed on as the name of the
/// span, which has no length if only the enqueueing is known.
struct NcclEvent {
  std::string function;   ///< "all_reduce"
  std::string algorithm;  ///< "RING"; empty for point-to-point
  std::string protocol;   ///< "LL128"
  int channels = 0;
  /// The transport of the bytes, and the evidence for it: "infiniband" and "socket" (events of the network
  /// plug-in), "proxy" (a proxy moved them: network or shared memory; an engine run's fact `transport` states
  /// which), "direct" (no proxy took part: NVLink, PCIe or NVLS), "" not observed.
  std::string transport;
  friend bool operator==(const NcclEvent&, const NcclEvent&) = default;
};
/// "nccl/all_reduce/RING/LL128/8/socket". A slash in a word, which NCCL has none of so far, becomes "_".
std::string nccl_event_name(const NcclEvent& event);
std::optional<NcclEvent> parse_nccl_event(std::string_view name);

/// The name of a span of kind kNcclEvent with the key of a collective: its wait for the last rank, on the GPU's own
/// clock, as NCCL's profiler reports it of symmetric kernels since version 7 of its interface.
inline constexpr std::string_view kNcclInitialSync = "nccl_initial_sync";

/// The suffix of the NCCL logs that ddbench requests: "rank0.1234.nccl.log".
inline constexpr const char* kNcclLogSuffix = ".nccl.log";
/// How it begins where a rank of a reference workload keeps the log in memory.
inline constexpr const char* kNcclLogInMemory = "/proc/self/fd/";

/// Prefix of the names by which a process reports the sizes of its communicators, the largest last.
inline constexpr std::string_view kNcclRanksName = "nccl.ranks: ";

/// The 48-bit sequence of collective_key() for the `sequence`-th call (from 0) of a function in a
/// communicator; NCCL counts each replay of a captured one as a call. The function's number is in the highest
/// bits: keys identify collectives but do not order them.
constexpr std::uint64_t nccl_sequence(int function_number, std::uint64_t sequence) noexcept {
  return (static_cast<std::uint64_t>(function_number & 0xF) << 44) | ((sequence + 1) & 0xFFF'FFFF'FFFFULL);
}

/// A communicator's 64-bit id in the 16 bits that collective_key() has for it.
constexpr std::uint16_t fold_communicator(std::uint64_t id) noexcept {
  return static_cast<std::uint16_t>(id ^ (id >> 16) ^ (id >> 32) ^ (id >> 48));
}

}  // namespace ddbench
