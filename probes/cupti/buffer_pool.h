#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ddbench::cuda {

/// CUPTI's buffers, used again and again, zeroed before each use: otherwise CUPTI does that when it requests one,
/// on the thread that trains. Thread-safe.
class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
  static constexpr std::size_t kDiscardedBytes = std::size_t{64} << 10;

  /// Allocates `ready` buffers at once, more on request, at most `most` in all.
  BufferPool(std::size_t ready, std::size_t most);

  /// nullptr when all are in use, or there is no memory; counted: CUPTI drops records then.
  std::uint8_t* take() noexcept;
  /// For a CUPTI that crashes when it is refused: a small buffer beyond the maximum, whose records are not
  /// used. Counted as refused; nullptr when there is no memory.
  std::uint8_t* take_to_discard() noexcept;
  /// Whether its records are to be used: not those of a buffer to discard, nor of one from before this pool.
  bool is_used(const std::uint8_t* buffer) const noexcept;
  /// Zeroes it, which takes the caller some 0.5 ms; frees one to discard; leaves others alone.
  void give_back(std::uint8_t* buffer) noexcept;
  std::uint64_t refused() const noexcept;

 private:
  std::uint8_t* make();

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<std::uint64_t[]>> all_;  // CUPTI wants records aligned to 8 bytes
  std::vector<std::uint8_t*> free_;
  std::unordered_map<const std::uint8_t*, std::unique_ptr<std::uint64_t[]>> discarded_;
  std::uint64_t refused_ = 0;
};

}  // namespace ddbench::cuda
