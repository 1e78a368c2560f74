#include "reports/formats/perfetto/slice_queue.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace ddbench::reports::trace {

void SliceQueue::pass_on(std::size_t count) {
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Slice& a, const Slice& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::for_each(waiting_.begin(), end, std::cref(take_));
  waiting_.erase(waiting_.begin(), end);
}

void SliceQueue::add(const Slice& slice) {
  if (waiting_.size() == kMostWaiting) pass_on(kMostWaiting / 2);
  waiting_.push_back(slice);
  most_waited_ = std::max(most_waited_, waiting_.size());
}

void SliceQueue::flush() {
  pass_on(waiting_.size());
}

}  // namespace ddbench::reports::trace
