#pragma once

#include <cstdint>

namespace ddbench::analyzer {

/// Steps first to last, both included.
struct StepRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool holds(std::uint32_t step) const noexcept { return first <= step && step <= last; }
};

}  // namespace ddbench::analyzer
