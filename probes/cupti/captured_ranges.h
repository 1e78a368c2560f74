#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "probes/cuda/cuda_probe.h"

namespace ddbench::cuda {

/// The ranges that the nodes of captured graphs were captured in. A node may be added on another thread than
/// the one that pushes: NCCL has threads of its own for that, for which the other waits. Thread-safe.
class CapturedRanges {
 public:
  /// While it follows, push() and pop() count.
  void follow(bool follow) noexcept {
    const std::lock_guard lock(mutex_);
    follows_ = follow;
    pushed_.clear();
  }
  void push(const Range& range) noexcept {
    const std::lock_guard lock(mutex_);
    if (follows_) pushed_.push_back(range);
  }
  void pop() noexcept {
    const std::lock_guard lock(mutex_);
    if (!pushed_.empty()) pushed_.pop_back();
  }

  /// Adds the node to the innermost range; outside of any range nothing is recorded for it.
  void add(std::uint64_t node) noexcept {
    const std::lock_guard lock(mutex_);
    if (!pushed_.empty()) nodes_.insert_or_assign(node, pushed_.back());
  }
  void copy(std::uint64_t original, std::uint64_t node) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(original);
    if (found == nodes_.end()) return;
    const Range range = found->second;  // inserting may move it
    nodes_.insert_or_assign(node, range);
  }
  bool find(std::uint64_t node, Range& range) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return false;
    range = found->second;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  bool follows_ = false;
  std::vector<Range> pushed_;
  std::unordered_map<std::uint64_t, Range> nodes_;
};

}  // namespace ddbench::cuda
