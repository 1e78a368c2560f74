#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/store/codec/chunk_layout.h"

namespace ddbench::store {

/// Appends `bits` bits to `bytes`, field by field, lowest bit first, and pads to a whole byte.
class BitWriter {
 public:
  BitWriter(std::vector<std::byte>& bytes, std::size_t bits)
      : bytes_(bytes), size_(bytes.size() + (bits + 7) / 8), at_(bytes.size()) {
    bytes_.resize(size_ + 8);  // words are written whole
  }
  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;
  ~BitWriter() {
    store_u64(bytes_.data() + at_, pending_);
    bytes_.resize(size_);
  }

  /// `value` fits into `width` bits; width <= 64.
  void write(std::uint64_t value, unsigned width) noexcept {
    pending_ |= value << filled_;
    const unsigned filled = filled_ + width;
    if (filled >= 64) {
      store_u64(bytes_.data() + at_, pending_);
      at_ += 8;
      const unsigned used = 64 - filled_;  // of `value`; 64 when nothing was pending
      pending_ = used >= 64 ? 0 : value >> used;
      filled_ = filled - 64;
    } else {
      filled_ = filled;
    }
  }

 private:
  std::vector<std::byte>& bytes_;
  std::size_t size_;
  std::size_t at_;
  std::uint64_t pending_ = 0;
  unsigned filled_ = 0;
};

}  // namespace ddbench::store
