#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddbench::cuda {

/// One reading of one GPU. Values that it does not report are absent.
struct GpuSample {
  std::int64_t at_ns = 0;
  std::optional<double> utilisation;  ///< share of time in which a kernel ran, 0 to 1
  std::optional<double> sm_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> energy_j;  ///< that it used since its driver was loaded
  std::optional<double> temperature_c;
  std::optional<double> memory_bytes;
  std::optional<double> used_memory_bytes;  ///< by all of its users
  std::optional<std::uint64_t> throttle_reasons;  ///< NVML's bits
  std::optional<std::uint64_t> ecc_corrected;     ///< errors since the driver was loaded
  std::optional<std::uint64_t> ecc_uncorrected;
};

/// Why a GPU's clock was held down, in words, of NVML's bits: "power cap", "too hot", "power brake",
/// "hardware slowdown". Empty for reasons that are none of those (idle, clocks that somebody set).
std::vector<std::string> throttle_words(std::uint64_t reasons);

/// The activity of a GPU over a time, from samples in order.
class GpuTotals {
 public:
  void add(const GpuSample& sample);

  std::uint64_t samples() const noexcept { return samples_; }
  /// From the GPU's own counter; without one, its power integrated by the trapezoid rule, without the
  /// intervals next to samples that report no power. Absent with fewer than two samples that report either.
  std::optional<double> energy_j() const noexcept;
  std::optional<double> mean_utilisation() const noexcept { return utilisation_.mean(); }
  std::optional<double> mean_sm_clock_mhz() const noexcept { return clock_.mean(); }
  std::optional<double> lowest_sm_clock_mhz() const noexcept { return clock_.lowest; }
  std::optional<double> highest_temperature_c() const noexcept { return temperature_.highest; }
  std::optional<double> mean_power_w() const noexcept { return power_.mean(); }
  std::optional<double> memory_bytes() const noexcept { return memory_.highest; }
  std::optional<double> peak_memory_bytes() const noexcept { return used_memory_.highest; }
  bool was_busy() const noexcept { return utilisation_.highest.value_or(0) > 0; }
  /// Every reason reported by any sample, and the share of samples that reported one of throttle_words().
  std::uint64_t throttle_reasons() const noexcept { return reasons_; }
  double throttled_share() const noexcept;
  /// Errors between the first and the last sample.
  std::optional<std::uint64_t> ecc_corrected() const noexcept { return corrected_.growth(); }
  std::optional<std::uint64_t> ecc_uncorrected() const noexcept { return uncorrected_.growth(); }

 private:
  struct Values {
    double sum = 0;
    std::uint64_t count = 0;
    std::optional<double> lowest;
    std::optional<double> highest;
    void add(const std::optional<double>& value);
    std::optional<double> mean() const noexcept;
  };
  struct Counter {
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> last;
    void add(const std::optional<std::uint64_t>& value);
    std::optional<std::uint64_t> growth() const noexcept;
  };

  std::uint64_t samples_ = 0;
  std::uint64_t throttled_ = 0;
  std::uint64_t reasons_ = 0;
  Values utilisation_;
  Values clock_;
  Values power_;
  Values temperature_;
  Values memory_;
  Values used_memory_;
  Counter corrected_;
  Counter uncorrected_;
  std::optional<double> first_energy_j_;
  std::optional<double> last_energy_j_;
  std::optional<double> integrated_j_;
  std::optional<double> last_power_w_;
  std::int64_t last_at_ns_ = 0;
};

}  // namespace ddbench::cuda
