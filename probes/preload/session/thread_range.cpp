#include "probes/preload/session/thread_range.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace ddbench::inject {
namespace {

constexpr int kDeepest = 16;

struct Ranges {
  std::array<Range, kDeepest + 1> nested{};  // the first is that outside of any
  int depth = 0;
};
thread_local Ranges ranges;

/// The collective that is called for: there is one at a time.
struct Collective {
  std::mutex mutex;
  Range range;  // a default one while there is none
};
Collective collective;

void set_collective(const Range& range) noexcept {
  const std::lock_guard lock(collective.mutex);
  collective.range = range;
}

}  // namespace

const Range& thread_range() noexcept {
  if (ranges.depth == 0) {
    const std::lock_guard lock(collective.mutex);
    ranges.nested[0] = collective.range;
  }
  return ranges.nested[static_cast<std::size_t>(std::min(ranges.depth, kDeepest))];
}

void push_thread_range(const Range& range) noexcept {
  if (++ranges.depth <= kDeepest) ranges.nested[static_cast<std::size_t>(ranges.depth)] = range;
  if (range.kind == SpanKind::kCommunication) set_collective(range);
}

void pop_thread_range() noexcept {
  if (ranges.depth == 0) return;
  if (thread_range().kind == SpanKind::kCommunication) set_collective({});
  --ranges.depth;
}

}  // namespace ddbench::inject
