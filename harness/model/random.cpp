#include "harness/model/random.h"

#include <cmath>
#include <numbers>

namespace ddbench::workload {

std::uint64_t Random::below(std::uint64_t bound) noexcept {
  using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(bits()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(bits()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

float Random::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - static_cast<double>(uniform())));
  return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * uniform()));
}

}  // namespace ddbench::workload
