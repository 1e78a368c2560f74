#include "ddbench/inject/thread_range.h"

#include <algorithm>
#include <array>

namespace ddbench::inject {
namespace {

constexpr int kDeepest = 16;

struct Ranges {
  std::array<Range, kDeepest + 1> nested{};  // the first is that outside of any
  int depth = 0;
};
thread_local Ranges ranges;

}  // namespace

const Range& thread_range() noexcept {
  return ranges.nested[static_cast<std::size_t>(std::min(ranges.depth, kDeepest))];
}

void push_thread_range(const Range& range) noexcept {
  if (++ranges.depth <= kDeepest) ranges.nested[static_cast<std::size_t>(ranges.depth)] = range;
}

void pop_thread_range() noexcept {
  if (ranges.depth > 0) --ranges.depth;
}

}  // namespace ddbench::inject
