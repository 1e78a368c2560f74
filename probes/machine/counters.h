#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/measured.h"

namespace ddbench::host {

/// /proc/net/dev, of the network namespace of the reading process.
struct InterfaceCounters {
  std::uint64_t received_bytes = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t received_errors = 0;
  std::uint64_t received_drops = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t sent_packets = 0;
  std::uint64_t sent_errors = 0;
  std::uint64_t sent_drops = 0;
  friend bool operator==(const InterfaceCounters&, const InterfaceCounters&) = default;
};

/// /proc/stat, all processors of the machine together, in the kernel's ticks.
struct ProcessorTicks {
  std::uint64_t busy = 0;    ///< not idle
  std::uint64_t stolen = 0;  ///< wanted, but a hypervisor gave the processor to others
  friend bool operator==(const ProcessorTicks&, const ProcessorTicks&) = default;
};

/// One reading of the kernel's counters for the machine, the network and this process.
struct Counters {
  std::int64_t at_ns = 0;                               ///< now_ns(); in a difference: how long it lasted
  std::map<std::string, InterfaceCounters> interfaces;  ///< by name
  /// "mlx5_0/1" -> the port's counters by the kernel's name ("port_xmit_wait", "symbol_error", ...); the two
  /// data counters, which the kernel counts in 4-byte words, come as "port_xmit_bytes" and "port_rcv_bytes".
  std::map<std::string, std::map<std::string, std::uint64_t>> infiniband;
  Measured<ProcessorTicks> processors = Measured<ProcessorTicks>::missing("not read");
  /// read_throttled_ns()
  Measured<std::int64_t> throttled_ns = Measured<std::int64_t>::missing("not read");
  /// How often a core was slowed down because it was too hot (thermal_throttle), summed over cores.
  Measured<std::uint64_t> thermal_throttles = Measured<std::uint64_t>::missing("not read");
  Measured<std::uint64_t> tcp_retransmitted_segments = Measured<std::uint64_t>::missing("not read");
  Measured<std::int64_t> peak_memory_bytes =
      Measured<std::int64_t>::missing("not read");  ///< VmHWM of this process
  std::uint64_t voluntary_switches = 0;             ///< of all threads of this process, ended ones included
  std::uint64_t involuntary_switches = 0;           ///< many of them: more threads than cores
  std::vector<std::string> notes;                   ///< what a difference had to leave out, and why
};

/// Reads /proc and /sys below `root`; the context switches are always those of this process.
Counters read_counters(const std::filesystem::path& root = "/");

/// The mean over cores of their present clock rate (cpufreq, else /proc/cpuinfo).
Measured<double> read_frequency_mhz(const std::filesystem::path& root = "/");

/// What was counted between two readings of one process. The peak memory is that of `after`. An interface or
/// port that is in one reading only, or that was reset in between, is left out and named in `notes`.
Counters difference(const Counters& before, const Counters& after);

}  // namespace ddbench::host
