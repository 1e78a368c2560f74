#include "harness/model/layers/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace ddbench::workload {
namespace {

std::int64_t padded(std::int64_t bytes) {
  constexpr std::int64_t kCacheLineBytes = 64;
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

bool meet(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& pieces) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].bytes > pieces[b].bytes; });
  MemoryPlan plan;
  plan.offsets.resize(pieces.size());
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t piece : order) {
    const std::int64_t bytes = padded(pieces[piece].bytes);
    std::int64_t offset = 0;
    for (const std::size_t other : placed) {
      if (!meet(pieces[piece], pieces[other])) continue;
      if (offset + bytes <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + padded(pieces[other].bytes));
    }
    plan.offsets[piece] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    const auto behind =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [&](auto at, std::size_t other) { return at < plan.offsets[other]; });
    placed.insert(behind, piece);
  }
  return plan;
}

}  // namespace ddbench::workload
