#pragma once

#include <cstdint>
#include <vector>

namespace ddbench::workload {

/// A piece of memory that is needed from moment `first` to moment `last`, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  ///< of each piece, multiples of 64
  std::int64_t bytes = 0;             ///< of the whole
};

/// Places the pieces so that no two that live at one moment overlap: the largest first, each at the lowest
/// offset that is free.
MemoryPlan plan_memory(const std::vector<Lifetime>& pieces);

}  // namespace ddbench::workload
