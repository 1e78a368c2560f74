#include "harness/training/gemm_peak.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/clock.h"
#include "harness/training/thread_time.h"

namespace ddbench::ddp {
namespace {

constexpr std::int64_t kRows = 768;
constexpr std::int64_t kPatience_ns = 100'000'000;
constexpr int kFewestProducts = 10;

}  // namespace

double measure_gemm_peak_tflops(device::Device& device, device::DataType type) {
  // 0x3f80 is 1 as bfloat16; two of them are 1.002 as float32.
  const std::vector<std::uint16_t> ones(kRows * kRows * 2, 0x3f80);
  const auto matrix = [&](const device::Buffer& memory) {
    return device::Tensor{memory.data(), kRows, kRows, type};
  };
  const std::int64_t bytes = matrix({}).bytes();
  const device::Buffer x = device.allocate(bytes);
  const device::Buffer weight = device.allocate(bytes);
  const device::Buffer y = device.allocate(bytes);
  device.upload(ones.data(), matrix(x));
  device.upload(ones.data(), matrix(weight));

  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  const std::int64_t begin_ns = now_ns();
  for (int i = 0; i < kFewestProducts || now_ns() - begin_ns < kPatience_ns; ++i) {
    const std::int64_t start_ns = thread_time_ns();
    device.linear_forward(matrix(x), matrix(weight), {}, device::Activation::kNone, matrix(y));
    device.synchronize();
    best_ns = std::min(best_ns, thread_time_ns() - start_ns);
  }
  constexpr double kFlop = 2.0 * kRows * kRows * kRows;
  return kFlop / static_cast<double>(std::max<std::int64_t>(best_ns, 1)) * 1e-3;
}

}  // namespace ddbench::ddp
