#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/clock.h"
#include "core/error.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

constexpr std::int64_t kAlignment = 64;  // a cache line, and an AVX512 vector

DDBENCH_WIDEST_VECTORS
void scale_loop(float* values, std::int64_t elements, float factor) {
  for (std::int64_t i = 0; i < elements; ++i) values[i] *= factor;
}

}  // namespace

Buffer CpuDevice::allocate_memory(std::int64_t bytes) {
  const std::int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory =
      bytes < 0 ? nullptr : std::aligned_alloc(kAlignment, static_cast<std::size_t>(rounded));
  if (memory == nullptr) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("no memory for {} bytes: lower the batch, the workload's size or the "
                            "number of ranks on this machine",
                            bytes),
                0, "allocate");
  }
  std::memset(memory, 0, static_cast<std::size_t>(rounded));
  return {memory, bytes, [](void* data) noexcept { std::free(data); }};
}

void CpuDevice::upload(const void* source, const Tensor& destination) {
  expect("upload", {{"destination", destination, destination.rows, destination.columns, destination.type}});
  std::memcpy(destination.data, source, static_cast<std::size_t>(destination.bytes()));
}

void CpuDevice::download(const Tensor& source, void* destination) {
  expect("download", {{"source", source, source.rows, source.columns, source.type}});
  std::memcpy(destination, source.data, static_cast<std::size_t>(source.bytes()));
}

std::size_t CpuDevice::stamp() noexcept {
  stamps_ns_.push_back(now_ns());
  return stamps_ns_.size() - 1;
}

void CpuDevice::read_stamps(std::vector<std::int64_t>& times_ns) {
  times_ns.clear();
  times_ns.swap(stamps_ns_);
}

void CpuDevice::fill(const Tensor& destination, float value) {
  expect("fill", {{"destination", destination, destination.rows, destination.columns}});
  std::fill_n(floats(destination), destination.elements(), value);
}

void CpuDevice::copy(const Tensor& source, const Tensor& destination) {
  expect("copy", {{"source", source, source.rows, source.columns, source.type},
                  {"destination", destination, source.rows, source.columns, source.type}});
  std::memcpy(destination.data, source.data, static_cast<std::size_t>(source.bytes()));
}

void CpuDevice::scale(const Tensor& values, float factor) {
  expect("scale", {{"values", values, values.rows, values.columns}});
  scale_loop(floats(values), values.elements(), factor);
}

}  // namespace ddbench::device::cpu
