#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "harness/device/memory_ledger.h"

namespace ddbench::device {

enum class DataType : std::uint8_t { kFloat32, kInt32, kFloat16, kBfloat16 };

constexpr std::int64_t size_of(DataType type) noexcept {
  return type == DataType::kFloat32 || type == DataType::kInt32 ? 4 : 2;
}

constexpr std::string_view name_of(DataType type) noexcept {
  constexpr std::string_view kNames[] = {"float32", "int32", "float16", "bfloat16"};
  return kNames[static_cast<std::size_t>(type)];
}

/// A view of a row-major matrix in a device's memory; it owns nothing. A vector of n elements is 1 x n.
struct Tensor {
  void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  DataType type = DataType::kFloat32;
  std::int64_t stride = 0;  ///< elements from one row to the next where rows are padded; 0: `columns`

  std::int64_t leading() const noexcept { return stride == 0 ? columns : stride; }
  bool is_dense() const noexcept { return leading() == columns; }
  std::int64_t elements() const noexcept { return rows * columns; }
  /// Of its memory, padding included.
  std::int64_t bytes() const noexcept { return rows * leading() * size_of(type); }
  /// Host access; only for dense memory of a device whose memory is the host's.
  std::span<float> floats() const noexcept {
    return {static_cast<float*>(data), static_cast<std::size_t>(elements())};
  }
  std::span<std::int32_t> ints() const noexcept {
    return {static_cast<std::int32_t*>(data), static_cast<std::size_t>(elements())};
  }
  /// `count` elements in memory order, from `first` on, as a vector.
  Tensor part(std::int64_t first, std::int64_t count) const noexcept {
    return {static_cast<std::byte*>(data) + first * size_of(type), 1, count, type};
  }
};

/// Sole owner of a piece of a device's memory.
class Buffer {
 public:
  using Free = void (*)(void*) noexcept;

  Buffer() = default;
  Buffer(void* data, std::int64_t bytes, Free free) : data_(data, free), bytes_(bytes) {}

  /// Counts it in the ledger, which it keeps alive, until it goes.
  void count_in(std::shared_ptr<MemoryLedger> ledger, MemoryUse use) {
    ledger->add(use, bytes_);
    counted_ = {nullptr, [ledger, use, bytes = bytes_](void*) { ledger->remove(use, bytes); }};
  }

  void* data() const noexcept { return data_.get(); }
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<void, Free> data_{nullptr, [](void*) noexcept {}};
  std::int64_t bytes_ = 0;
  std::shared_ptr<void> counted_;
};

}  // namespace ddbench::device
