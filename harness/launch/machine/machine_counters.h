#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/machine/counters.h"
#include "probes/nvml/gpu_monitor.h"

namespace ddbench::launch {

/// What a machine counted while ranks were on it.
struct MachineCounts {
  int node = 0;      ///< for ranks on this machine the first one that reported
  std::string host;  ///< its name
  /// "nic.eth0.sent_bytes", "ib.mlx5_0/1.port_xmit_bytes", "gpu...." (cuda::gpu_facts), "cpu.stolen_percent"
  /// of the processor time that the machine wanted, "cpu.throttled_percent" of the time of its cores (limits
  /// of control groups), "cpu.thermal_throttles", "cpu.frequency_mhz" (mean over cores, when the ranks had
  /// ended); "not measured: <why>" if the kernel does not report it. They differ from run to run, unlike the
  /// properties of the machine.
  std::map<std::string, std::string> facts;
  std::vector<std::string> notes;  ///< notes for the user
};

/// Counts on the machine of this process, from its construction to stop(): the bytes and errors of each
/// network interface and InfiniBand port that this process sees (not those within emulated nodes), energy,
/// clocks and throttling of each GPU, and the share of its processors that a hypervisor gave to others. One
/// thread at a time.
class MachineCounters {
 public:
  MachineCounters();

  /// Stops the meter. Returns facts and notes only: the caller states whose they are.
  MachineCounts stop();

 private:
  const host::Counters before_;
  std::unique_ptr<cuda::GpuMonitor> gpus_;
};

}  // namespace ddbench::launch
