#include "harness/training/optimizer/parameters.h"

#include <fmt/format.h>

#include <bit>

#include "harness/model/random.h"

namespace ddbench::ddp {
namespace {

constexpr std::int64_t kCacheLineBytes = 64;

std::int64_t padded(std::int64_t bytes) {
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

}  // namespace

std::int64_t ParameterMemory::bytes_for(std::span<const std::int64_t> parameter_bytes) {
  std::int64_t bytes = 0;
  for (const std::int64_t parameter : parameter_bytes) bytes += padded(parameter);
  return bytes;
}

ParameterMemory::ParameterMemory(const std::vector<workload::ParameterSpec>& specs, device::Device& device,
                                 device::MemoryUse use)
    : memory_(device.allocate(bytes_for(bytes_of(specs)), use)) {
  auto* next = static_cast<std::byte*>(memory_.data());
  for (const workload::ParameterSpec& spec : specs) {
    tensors_.push_back({next, spec.rows, spec.columns});
    next += padded(spec.bytes());
  }
}

device::Tensor ParameterMemory::all() const noexcept {
  return {memory_.data(), 1, memory_.bytes() / std::int64_t{sizeof(float)}};
}

std::vector<std::int64_t> bytes_of(const std::vector<workload::ParameterSpec>& specs) {
  std::vector<std::int64_t> bytes;
  for (const workload::ParameterSpec& spec : specs) bytes.push_back(spec.bytes());
  return bytes;
}

std::vector<Bucket> plan_buckets(const RunCase& run_case, const std::vector<workload::ParameterSpec>& specs) {
  return plan_buckets(bytes_of(specs), run_case.first_bucket_bytes, run_case.bucket_bytes);
}

std::int64_t elements_of(const Bucket& bucket, const std::vector<workload::ParameterSpec>& specs) {
  std::int64_t elements = 0;
  for (const std::size_t parameter : bucket) elements += specs[parameter].elements();
  return elements;
}

void ParameterHash::add(std::span<const float> values) {
  for (const float value : values) hash_ = workload::mix_bits(hash_ ^ std::bit_cast<std::uint32_t>(value));
}

std::string ParameterHash::text() const {
  return fmt::format("{:016x}", hash_);
}

}  // namespace ddbench::ddp
