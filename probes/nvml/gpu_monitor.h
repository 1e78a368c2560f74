#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/facts/facts.h"
#include "probes/nvml/gpu_totals.h"

namespace ddbench::cuda {

/// Reads GPUs, one sample each in the order of the driver. One thread at a time.
class GpuSource {
 public:
  virtual ~GpuSource() = default;
  virtual std::vector<GpuSample> read() = 0;
};

/// The GPUs of this machine through NVML, the driver's library, opened now. nullptr, and the reason in
/// `why_not`, when there is no driver or it lists no GPU.
std::unique_ptr<GpuSource> open_nvml(std::string& why_not);

/// Reads a source ten times a second, on a thread of its own, until stop().
class GpuMonitor {
 public:
  explicit GpuMonitor(std::unique_ptr<GpuSource> source,
                      std::chrono::milliseconds period = std::chrono::milliseconds(100));
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  /// Reads once more, and ends. By GPU. Idempotent.
  const std::vector<GpuTotals>& stop();

 private:
  void sample();
  void run();

  const std::unique_ptr<GpuSource> source_;
  const std::chrono::milliseconds period_;
  std::vector<GpuTotals> totals_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread thread_;
};

/// Facts reported for a run: "gpu.0.energy_j", "gpu.0.utilisation", "gpu.0.sm_clock_mhz", "gpu.0.throttled"
/// in words, ...; "gpu.energy_j" for all GPUs that ran a kernel.
Facts gpu_facts(const std::vector<GpuTotals>& gpus);

/// One for each GPU that was held down or had memory errors, for people.
std::vector<std::string> gpu_notes(const std::vector<GpuTotals>& gpus);

}  // namespace ddbench::cuda
