#include "analyzer/import/kineto/read_ahead.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ddbench::imports {

class ReadAhead::Impl {
 public:
  explicit Impl(Source source) : source_(std::move(source)), thread_([this] { run(); }) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      is_wanted_ = false;
    }
    room_.notify_one();
    thread_.join();
  }

  std::size_t read(char* to, std::size_t size) {
    if (!has_block_ || at_ == blocks_[taken_ % blocks_.size()].size) next_block();
    if (!has_block_) return 0;
    const Block& block = blocks_[taken_ % blocks_.size()];
    const std::size_t count = std::min(size, block.size - at_);
    std::memcpy(to, block.bytes.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  struct Block {
    std::vector<char> bytes = std::vector<char>(std::size_t{64} << 10);
    std::size_t size = 0;
  };

  /// Gives the block back that was read, and waits for the one behind it; without one at the end.
  void next_block() {
    std::unique_lock lock(mutex_);
    if (std::exchange(has_block_, false)) {
      ++taken_;
      room_.notify_one();
    }
    more_.wait(lock, [&] { return taken_ < filled_ || is_done_; });
    if (taken_ == filled_) {
      if (error_) std::rethrow_exception(error_);
      return;
    }
    has_block_ = true;
    at_ = 0;
  }

  void run() {
    try {
      while (fill()) {
      }
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    more_.notify_one();
  }

  bool fill() {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return filled_ - taken_ < blocks_.size() || !is_wanted_; });
      if (!is_wanted_) return false;
    }
    Block& block = blocks_[filled_ % blocks_.size()];
    block.size = 0;
    for (std::size_t got = 1; got > 0 && block.size < block.bytes.size(); block.size += got)
      got = source_(block.bytes.data() + block.size, block.bytes.size() - block.size);
    if (block.size == 0) return false;
    const std::lock_guard lock(mutex_);
    ++filled_;
    more_.notify_one();
    return true;
  }

  Source source_;
  std::array<Block, 4> blocks_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable more_;
  std::size_t filled_ = 0;  ///< blocks that the source has filled
  std::size_t taken_ = 0;   ///< of these, blocks that were read to their end
  bool is_done_ = false;
  bool is_wanted_ = true;
  std::exception_ptr error_;
  // The reader's own:
  bool has_block_ = false;
  std::size_t at_ = 0;
  std::thread thread_;  // last: it uses the others
};

ReadAhead::ReadAhead(Source source) : impl_(std::make_unique<Impl>(std::move(source))) {}
ReadAhead::~ReadAhead() = default;

std::size_t ReadAhead::read(char* to, std::size_t size) {
  return impl_->read(to, size);
}

}  // namespace ddbench::imports
