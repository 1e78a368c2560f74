#pragma once

#include <cstdint>

namespace ddbench {

/// A number that comes from outside as an integer: its whole part, held in [least, most]; `least` for NaN. A
/// cast alone would be undefined for infinities, NaN and what int64 does not hold.
constexpr std::int64_t bounded(double value, std::int64_t least, std::int64_t most) noexcept {
  if (!(value > static_cast<double>(least))) return least;
  if (value >= static_cast<double>(most)) return most;
  return static_cast<std::int64_t>(value);
}

}  // namespace ddbench
