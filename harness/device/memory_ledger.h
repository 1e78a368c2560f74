#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ddbench::device {

/// What memory of a device is for.
enum class MemoryUse : std::uint8_t {
  kParameters,   ///< values, and their copies in 16 bits
  kGradients,    ///< with the sums of micro-batches
  kOptimizer,    ///< its state
  kActivations,  ///< with their gradients
  kBuckets,      ///< what gradients or parameters are exchanged through, beside where they lie
  kBatches,
  kWorkspace,    ///< of operators
  kOther,
};
inline constexpr std::size_t kMemoryUses = 8;
inline constexpr std::array<std::string_view, kMemoryUses> kMemoryUseNames{
    "parameters", "gradients", "optimizer", "activations", "buckets", "batches", "workspace", "other"};

/// Bytes by use.
struct MemoryByUse {
  std::array<std::int64_t, kMemoryUses> bytes{};

  std::int64_t& operator[](MemoryUse use) { return bytes[static_cast<std::size_t>(use)]; }
  std::int64_t operator[](MemoryUse use) const { return bytes[static_cast<std::size_t>(use)]; }
  std::int64_t total() const noexcept {
    std::int64_t sum = 0;
    for (const std::int64_t use : bytes) sum += use;
    return sum;
  }
  friend bool operator==(const MemoryByUse&, const MemoryByUse&) = default;
};

/// What a device's allocator has given out. One thread.
class MemoryLedger {
 public:
  void add(MemoryUse use, std::int64_t bytes) noexcept {
    now_[use] += bytes;
    total_ += bytes;
    if (total_ <= peak_total_) return;
    peak_total_ = total_;
    peak_ = now_;
  }
  void remove(MemoryUse use, std::int64_t bytes) noexcept {
    now_[use] -= bytes;
    total_ -= bytes;
  }
  /// The peak counts from now on.
  void forget_peak() noexcept {
    peak_ = now_;
    peak_total_ = total_;
  }
  const MemoryByUse& now() const noexcept { return now_; }
  /// By use, at the moment when the total was the largest.
  const MemoryByUse& peak() const noexcept { return peak_; }

 private:
  MemoryByUse now_;
  MemoryByUse peak_;
  std::int64_t total_ = 0;
  std::int64_t peak_total_ = 0;
};

}  // namespace ddbench::device
