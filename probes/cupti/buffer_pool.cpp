#include "probes/cupti/buffer_pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ddbench::cuda {

BufferPool::BufferPool(std::size_t ready, std::size_t most) : most_(std::max(ready, most)) {
  all_.reserve(most_);
  free_.reserve(most_);
  for (std::size_t i = 0; i < ready; ++i) free_.push_back(make());
}

std::uint8_t* BufferPool::make() {
  all_.push_back(std::make_unique<std::uint64_t[]>(kBufferBytes / sizeof(std::uint64_t)));
  return reinterpret_cast<std::uint8_t*>(all_.back().get());
}

std::uint8_t* BufferPool::take() noexcept try {
  const std::lock_guard lock(mutex_);
  if (free_.empty() && all_.size() < most_) return make();
  if (free_.empty()) {
    ++refused_;
    return nullptr;
  }
  std::uint8_t* const buffer = free_.back();
  free_.pop_back();
  return buffer;
} catch (...) {  // no memory
  const std::lock_guard lock(mutex_);
  ++refused_;
  return nullptr;
}

std::uint8_t* BufferPool::take_to_discard() noexcept try {
  auto words = std::make_unique<std::uint64_t[]>(kDiscardedBytes / sizeof(std::uint64_t));
  auto* const buffer = reinterpret_cast<std::uint8_t*>(words.get());
  const std::lock_guard lock(mutex_);
  discarded_.emplace(buffer, std::move(words));
  return buffer;
} catch (...) {  // no memory
  return nullptr;
}

bool BufferPool::is_used(const std::uint8_t* buffer) const noexcept {
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [&](const auto& own) { return reinterpret_cast<const std::uint8_t*>(own.get()) == buffer; });
}

void BufferPool::give_back(std::uint8_t* buffer) noexcept {
  if (!is_used(buffer)) {
    const std::lock_guard lock(mutex_);
    discarded_.erase(buffer);
    return;
  }
  std::memset(buffer, 0, kBufferBytes);
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);  // within the reserved capacity
}

std::uint64_t BufferPool::refused() const noexcept {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace ddbench::cuda
