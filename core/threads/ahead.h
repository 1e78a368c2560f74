#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "core/threads/signals_blocked.h"

namespace ddbench {

/// Runs a producer on a thread of its own, which takes no signals, up to four blocks ahead of the thread that takes them. A `Block` is
/// default-constructible and is filled again and again: it keeps its memory.
template <typename Block>
class Ahead {
 public:
  /// Both are called on the producer's thread only.
  class Room {
   public:
    /// The block to fill, when there is one that was taken; null: nobody takes any more, and the producer returns.
    Block* next() { return ahead_.next(); }
    /// Gives the block that next() has returned to the other thread.
    void hand_over() { ahead_.hand_over(); }

   private:
    friend class Ahead;
    explicit Room(Ahead& ahead) : ahead_(ahead) {}
    Ahead& ahead_;
  };

  using Producer = std::function<void(Room&)>;
  /// Throws std::system_error where no thread can be made.
  explicit Ahead(Producer producer) : producer_(std::move(producer)) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead() {
    {
      const std::lock_guard lock(mutex_);
      is_wanted_ = false;
    }
    room_.notify_one();
    thread_.join();
  }

  /// The next block, until the next call; null at the end. What the producer threw is thrown here, behind the blocks before it. All that
  /// the producer did to a block, and before it, is visible.
  Block* take() {
    std::unique_lock lock(mutex_);
    if (std::exchange(has_block_, false)) {
      ++taken_;
      room_.notify_one();
    }
    more_.wait(lock, [&] { return taken_ < filled_ || is_done_; });
    if (taken_ == filled_) {
      if (error_) std::rethrow_exception(error_);
      return nullptr;
    }
    has_block_ = true;
    return &blocks_[taken_ % blocks_.size()];
  }

 private:
  void run() {
    Room room(*this);
    std::exception_ptr error;
    try {
      producer_(room);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = error;
    is_done_ = true;
    more_.notify_one();
  }

  Block* next() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return filled_ - taken_ < blocks_.size() || !is_wanted_; });
    return is_wanted_ ? &blocks_[filled_ % blocks_.size()] : nullptr;
  }

  void hand_over() {
    const std::lock_guard lock(mutex_);
    ++filled_;
    more_.notify_one();
  }

  Producer producer_;
  std::array<Block, 4> blocks_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable more_;
  std::size_t filled_ = 0;  ///< blocks that were handed over
  std::size_t taken_ = 0;   ///< of these, blocks that were given back
  bool is_done_ = false;
  bool is_wanted_ = true;
  bool has_block_ = false;  ///< the other thread has blocks_[taken_]
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace ddbench
