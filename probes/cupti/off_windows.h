#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

namespace ddbench::cuda {

/// When probes were off although CUPTI went on recording: what began then is not recorded. Keeps the latest.
/// Times of one clock, which rise. One thread at a time.
class OffWindows {
 public:
  static constexpr std::size_t kMost = 256;

  void begin(std::int64_t at_ns) {
    if (windows_.size() == kMost) windows_.pop_front();
    windows_.push_back({at_ns, std::numeric_limits<std::int64_t>::max()});
    ++count_;
  }
  void end(std::int64_t at_ns) {
    if (!windows_.empty()) windows_.back().end_ns = at_ns;
  }
  bool contain(std::int64_t at_ns) const noexcept {
    return std::any_of(windows_.rbegin(), windows_.rend(), [at_ns](const Window& window) {
      return window.begin_ns <= at_ns && at_ns < window.end_ns;
    });
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  struct Window {
    std::int64_t begin_ns;
    std::int64_t end_ns;
  };
  std::deque<Window> windows_;
  std::uint64_t count_ = 0;
};

}  // namespace ddbench::cuda
