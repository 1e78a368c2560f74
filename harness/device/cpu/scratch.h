#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace ddbench::device::cpu {

/// Memory that an operator needs while it runs, shared by all operators; it only grows.
class Scratch {
 public:
  /// Aligned to 64 bytes, valid until the next call.
  void* bytes(std::int64_t count) {
    if (count > size_) {
      const std::int64_t rounded = (count + 63) / 64 * 64;
      memory_.reset();
      memory_.reset(std::aligned_alloc(64, static_cast<std::size_t>(rounded)));
      if (memory_ == nullptr) throw std::bad_alloc();
      size_ = rounded;
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
  std::unique_ptr<void, Free> memory_;
  std::int64_t size_ = 0;
};

}  // namespace ddbench::device::cpu
