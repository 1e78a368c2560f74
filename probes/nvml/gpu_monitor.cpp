#include "probes/nvml/gpu_monitor.h"
#include "core/facts/facts.h"

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

Facts gpu_facts(const std::vector<GpuTotals>& gpus) {
  Facts facts;
  std::optional<double> energy_j;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuTotals& gpu = gpus[i];
    const auto set = [&facts](const auto& key, const auto& value) {
      if (value) set_fact(facts, key, static_cast<double>(*value));
    };
    set(fact_key_of<"gpu.*.energy_j">(i), gpu.energy_j());
    set(fact_key_of<"gpu.*.utilisation">(i), gpu.mean_utilisation());
    set(fact_key_of<"gpu.*.power_w">(i), gpu.mean_power_w());
    set(fact_key_of<"gpu.*.sm_clock_mhz">(i), gpu.mean_sm_clock_mhz());
    set(fact_key_of<"gpu.*.lowest_sm_clock_mhz">(i), gpu.lowest_sm_clock_mhz());
    set(fact_key_of<"gpu.*.highest_temperature_c">(i), gpu.highest_temperature_c());
    if (gpu.was_busy()) {  // the memory of an idle GPU is somebody else's
      set(fact_key_of<"gpu.*.memory_bytes">(i), gpu.memory_bytes());
      set(fact_key_of<"gpu.*.peak_memory_bytes">(i), gpu.peak_memory_bytes());
    }
    set(fact_key_of<"gpu.*.ecc_corrected">(i), gpu.ecc_corrected());
    set(fact_key_of<"gpu.*.ecc_uncorrected">(i), gpu.ecc_uncorrected());
    const std::vector<std::string> words = throttle_words(gpu.throttle_reasons());
    if (!words.empty()) set_fact(facts, fact_key_of<"gpu.*.throttled">(i), words);
    if (gpu.was_busy() && gpu.energy_j()) energy_j = energy_j.value_or(0) + *gpu.energy_j();
  }
  if (energy_j) set_fact(facts, fact_key<"gpu.energy_j">, *energy_j);
  return facts;
}

std::vector<std::string> gpu_notes(const std::vector<GpuTotals>& gpus) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuTotals& gpu = gpus[i];
    const std::vector<std::string> words = throttle_words(gpu.throttle_reasons());
    if (!words.empty() && gpu.was_busy()) {
      notes.push_back(fmt::format(
          "GPU {} was throttled in {:.0f}% of the samples ({}): its clock fell to {:.0f} MHz", i,
          100 * gpu.throttled_share(), fmt::join(words, ", "), gpu.lowest_sm_clock_mhz().value_or(0)));
    }
    if (gpu.ecc_uncorrected().value_or(0) > 0) {
      notes.push_back(fmt::format("GPU {} had {} uncorrected memory errors", i, *gpu.ecc_uncorrected()));
    }
  }
  return notes;
}

}  // namespace ddbench::cuda
