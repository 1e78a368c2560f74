#include "harness/training/half_conversion.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "harness/training/thread_time.h"

namespace ddbench::ddp {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{64} << 10;
constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;
constexpr int kPasses = 4;

}  // namespace

HalfConversion measure_half_conversion(device::Device& device, std::int64_t gradient_bytes) {
  const std::int64_t elements = std::clamp(gradient_bytes, kLeastBytes, kMostBytes) / 4;
  const device::Buffer wide_memory = device.allocate(elements * size_of(device::DataType::kFloat32));
  const device::Buffer half_memory = device.allocate(elements * size_of(device::DataType::kFloat16));
  const device::Tensor wide{wide_memory.data(), 1, elements};
  const device::Tensor half{half_memory.data(), 1, elements, device::DataType::kFloat16};
  const std::vector<float> ones(static_cast<std::size_t>(elements), 1.0F);
  device.upload(ones.data(), wide);

  const auto fastest_ns = [&](const auto& action) {
    std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
    for (int pass = 0; pass < kPasses; ++pass) {
      const std::int64_t start_ns = thread_time_ns();
      action();
      device.synchronize();
      best_ns = std::min(best_ns, thread_time_ns() - start_ns);
    }
    return static_cast<double>(best_ns);
  };
  const double scale_ns = fastest_ns([&] { device.scale(wide, 1.0F); });
  const double narrow_ns = fastest_ns([&] { device.narrow(wide, 1.0F, half); });
  const double widen_ns = fastest_ns([&] { device.widen(half, wide); });
  const double mib = static_cast<double>(elements) * 4 / (1 << 20);
  return {std::max(0.0, narrow_ns - scale_ns) / mib, widen_ns / mib};
}

}  // namespace ddbench::ddp
