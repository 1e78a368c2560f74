#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "harness/device/memory_ledger.h"

namespace ddbench::device::cpu {

/// Memory that an operator needs while it runs, shared by all operators; it only grows.
class Scratch {
 public:
  /// Counts what it takes in `ledger`, which outlives it.
  explicit Scratch(MemoryLedger& ledger) noexcept : ledger_(ledger) {}
  ~Scratch() { ledger_.remove(MemoryUse::kWorkspace, size_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Aligned to 64 bytes, valid until the next call.
  void* bytes(std::int64_t count) {
    if (count > size_) {
      const std::int64_t rounded = (count + 63) / 64 * 64;
      memory_.reset();
      memory_.reset(std::aligned_alloc(64, static_cast<std::size_t>(rounded)));
      ledger_.remove(MemoryUse::kWorkspace, std::exchange(size_, 0));
      if (memory_ == nullptr) throw std::bad_alloc();
      size_ = rounded;
      ledger_.add(MemoryUse::kWorkspace, size_);
    }
    return memory_.get();
  }
  float* floats(std::int64_t count) {
    return static_cast<float*>(bytes(count * std::int64_t{sizeof(float)}));
  }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  MemoryLedger& ledger_;
  std::unique_ptr<void, Free> memory_;
  std::int64_t size_ = 0;
};

}  // namespace ddbench::device::cpu
