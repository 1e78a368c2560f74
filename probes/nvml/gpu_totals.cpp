#include "probes/nvml/gpu_totals.h"

#include <algorithm>

namespace ddbench::cuda {
namespace {

struct Reason {
  std::uint64_t bits;
  const char* words;
};
// NVML's nvmlClocksThrottleReason*: software and hardware report thermal throttling separately.
constexpr Reason kReasons[] = {
    {0x04, "power cap"}, {0x20 | 0x40, "too hot"}, {0x80, "power brake"}, {0x08, "hardware slowdown"}};

}  // namespace

std::vector<std::string> throttle_words(std::uint64_t reasons) {
  std::vector<std::string> words;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bits) != 0) words.emplace_back(reason.words);
  }
  return words;
}

void GpuTotals::Values::add(const std::optional<double>& value) {
  if (!value) return;
  sum += *value;
  ++count;
  lowest = std::min(lowest.value_or(*value), *value);
  highest = std::max(highest.value_or(*value), *value);
}

std::optional<double> GpuTotals::Values::mean() const noexcept {
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

void GpuTotals::Counter::add(const std::optional<std::uint64_t>& value) {
  if (!value) return;
  if (!first) first = value;
  last = value;
}

std::optional<std::uint64_t> GpuTotals::Counter::growth() const noexcept {
  if (!first || *last < *first) return std::nullopt;  // reset in between
  return *last - *first;
}

void GpuTotals::add(const GpuSample& sample) {
  if (samples_ > 0 && last_power_w_ && sample.power_w) {
    const double seconds = static_cast<double>(sample.at_ns - last_at_ns_) / 1e9;
    integrated_j_ = integrated_j_.value_or(0) + seconds * (*last_power_w_ + *sample.power_w) / 2;
  }
  ++samples_;
  last_at_ns_ = sample.at_ns;
  last_power_w_ = sample.power_w;
  utilisation_.add(sample.utilisation);
  clock_.add(sample.sm_clock_mhz);
  power_.add(sample.power_w);
  memory_.add(sample.memory_bytes);
  used_memory_.add(sample.used_memory_bytes);
  temperature_.add(sample.temperature_c);
  corrected_.add(sample.ecc_corrected);
  uncorrected_.add(sample.ecc_uncorrected);
  if (sample.energy_j) {
    if (!first_energy_j_) first_energy_j_ = sample.energy_j;
    last_energy_j_ = sample.energy_j;
  }
  const std::uint64_t reasons = sample.throttle_reasons.value_or(0);
  reasons_ |= reasons;
  throttled_ += !throttle_words(reasons).empty();
}

std::optional<double> GpuTotals::energy_j() const noexcept {
  if (first_energy_j_ && *last_energy_j_ > *first_energy_j_) return *last_energy_j_ - *first_energy_j_;
  return integrated_j_;
}

double GpuTotals::throttled_share() const noexcept {
  return samples_ == 0 ? 0 : static_cast<double>(throttled_) / static_cast<double>(samples_);
}

}  // namespace ddbench::cuda
