#include "probes/nvml/gpu_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddbench::cuda {

GpuMonitor::GpuMonitor(std::unique_ptr<GpuSource> source, std::chrono::milliseconds period)
    : source_(std::move(source)), period_(period), thread_([this] { run(); }) {}

GpuMonitor::~GpuMonitor() {
  stop();
}

void GpuMonitor::sample() {
  const std::vector<GpuSample> samples = source_->read();
  totals_.resize(std::max(totals_.size(), samples.size()));
  for (std::size_t gpu = 0; gpu < samples.size(); ++gpu) totals_[gpu].add(samples[gpu]);
}

void GpuMonitor::run() {
  std::unique_lock lock(mutex_);
  do {
    sample();
  } while (!stopping_.wait_for(lock, period_, [this] { return is_stopping_; }));
  sample();
}

const std::vector<GpuTotals>& GpuMonitor::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
  return totals_;
}

std::map<std::string, std::string> gpu_facts(const std::vector<GpuTotals>& gpus) {
  std::map<std::string, std::string> facts;
  std::optional<double> energy_j;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuTotals& gpu = gpus[i];
    const auto fact = [&facts, i](const char* name, const auto& value) {
      if (value)
        facts[fmt::format("gpu.{}.{}", i, name)] = fmt::format("{:.6g}", static_cast<double>(*value));
    };
    fact("energy_j", gpu.energy_j());
    fact("utilisation", gpu.mean_utilisation());
    fact("power_w", gpu.mean_power_w());
    fact("sm_clock_mhz", gpu.mean_sm_clock_mhz());
    fact("lowest_sm_clock_mhz", gpu.lowest_sm_clock_mhz());
    fact("highest_temperature_c", gpu.highest_temperature_c());
    fact("ecc_corrected", gpu.ecc_corrected());
    fact("ecc_uncorrected", gpu.ecc_uncorrected());
    const std::vector<std::string> words = throttle_words(gpu.throttle_reasons());
    if (!words.empty()) facts[fmt::format("gpu.{}.throttled", i)] = fmt::format("{}", fmt::join(words, ", "));
    if (gpu.was_busy() && gpu.energy_j()) energy_j = energy_j.value_or(0) + *gpu.energy_j();
  }
  if (energy_j) facts["gpu.energy_j"] = fmt::format("{:.6g}", *energy_j);
  return facts;
}

std::vector<std::string> gpu_notes(const std::vector<GpuTotals>& gpus) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuTotals& gpu = gpus[i];
    const std::vector<std::string> words = throttle_words(gpu.throttle_reasons());
    if (!words.empty() && gpu.was_busy()) {
      notes.push_back(fmt::format(
          "GPU {} was throttled in {:.0f} % of the samples ({}): its clock fell to {:.0f} MHz", i,
          100 * gpu.throttled_share(), fmt::join(words, ", "), gpu.lowest_sm_clock_mhz().value_or(0)));
    }
    if (gpu.ecc_uncorrected().value_or(0) > 0) {
      notes.push_back(fmt::format("GPU {} had {} uncorrected memory errors", i, *gpu.ecc_uncorrected()));
    }
  }
  return notes;
}

}  // namespace ddbench::cuda
