#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "harness/device/gpu/gpu.h"
#include "harness/device/memory_ledger.h"

namespace ddbench::device::cuda {

/// Memory that an operator needs while it runs, shared by all operators of a stream, which run one after
/// another; it only grows.
class Scratch {
 public:
  /// Counts what it takes in `ledger`, which outlives it.
  Scratch(cudaStream_t stream, MemoryLedger& ledger) noexcept : stream_(stream), ledger_(ledger) {}
  ~Scratch() {
    ledger_.remove(MemoryUse::kWorkspace, size_);
    if (memory_ != nullptr) cudaFreeAsync(memory_, stream_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Pieces of the given sizes in bytes, each aligned to 256, valid until the next call.
  template <std::size_t kPieces>
  std::array<void*, kPieces> pieces(const std::int64_t (&sizes)[kPieces]) {
    std::int64_t total = 0;
    for (const std::int64_t size : sizes) total += rounded(size);
    reserve(total);
    std::array<void*, kPieces> places{};
    auto* at = static_cast<std::byte*>(memory_);
    for (std::size_t i = 0; i < kPieces; ++i) places[i] = std::exchange(at, at + rounded(sizes[i]));
    return places;
  }
  void* bytes(std::int64_t size) { return pieces({size})[0]; }
  float* floats(std::int64_t count) {
    return static_cast<float*>(bytes(count * std::int64_t{sizeof(float)}));
  }

 private:
  static std::int64_t rounded(std::int64_t bytes) noexcept { return (bytes + 255) / 256 * 256; }

  void reserve(std::int64_t bytes) {
    if (bytes <= size_) return;
    gpu::refuse_in_capture(stream_, "memory of operators would grow");
    // In the order of the stream: what still runs keeps its memory.
    if (memory_ != nullptr) {
      gpu::check(cudaFreeAsync(std::exchange(memory_, nullptr), stream_), "free memory of operators");
    }
    ledger_.remove(MemoryUse::kWorkspace, std::exchange(size_, 0));
    gpu::check(cudaMallocAsync(&memory_, static_cast<std::size_t>(bytes), stream_),
               "allocate memory of operators");
    size_ = bytes;
    ledger_.add(MemoryUse::kWorkspace, size_);
  }

  cudaStream_t stream_;
  MemoryLedger& ledger_;
  void* memory_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace ddbench::device::cuda
