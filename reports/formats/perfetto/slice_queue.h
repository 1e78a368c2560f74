#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "reports/formats/perfetto/lanes.h"

namespace ddbench::reports::trace {

/// Brings the slices of one rank, which are recorded when they end, into the order in which they begin; of equal begins the
/// longest first. It holds kMostWaiting slices at most: one that comes more than half of that too late is passed on late.
class SliceQueue {
 public:
  static constexpr std::size_t kMostWaiting = 1 << 16;  ///< 5 MB

  explicit SliceQueue(std::function<void(const Slice&)> take) : take_(std::move(take)) {}

  void add(const Slice& slice);
  void flush();  ///< passes on all that wait
  std::size_t most_waited() const noexcept { return most_waited_; }

 private:
  void pass_on(std::size_t count);

  std::function<void(const Slice&)> take_;
  std::vector<Slice> waiting_;
  std::size_t most_waited_ = 0;
};

}  // namespace ddbench::reports::trace
