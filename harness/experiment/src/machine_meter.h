#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ddbench/cuda/gpu_monitor.h"
#include "ddbench/host/counters.h"

namespace ddbench::experiment {

/// What the machine of the launcher counts while a run lasts, from its start to its end: the bytes and errors
/// of each network interface and InfiniBand port, energy, clocks and throttling of each GPU, and the share of
/// its processors that a hypervisor gave to others. Interfaces within emulated nodes are not among them, nor
/// other machines.
class MachineMeter {
 public:
  MachineMeter();

  /// Ends; `samples` that the run trained on, 0 when it is not known. For store::Environment::facts:
  /// "counted.nic.eth0.sent_bytes", "counted.ib.mlx5_0/1.port_xmit_bytes", "counted.gpu...." (gpu_facts()),
  /// "counted.cpu.stolen_percent" of the processor time that the machine wanted: they differ from run to run,
  /// other than what the machine is.
  std::map<std::string, std::string> facts(double samples);
  /// After facts(): what people should know of it.
  std::vector<std::string> notes();

 private:
  const host::Counters before_;
  std::vector<std::string> counter_notes_;
  double stolen_percent_ = 0;
  std::unique_ptr<cuda::GpuMonitor> gpus_;
};

}  // namespace ddbench::experiment
