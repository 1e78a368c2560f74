#pragma once

#include <string>
#include <string_view>

namespace ddbench {

/// What values of a stored unit are multiplied with to be shown in a unit for people: {1e-6, "ms"} for "ns".
struct UnitScale {
  double factor = 1;
  std::string unit;  ///< empty for a pure number
};

/// The scale in which `largest` (the largest absolute value to be shown) reads best. Knows "ns", "ms", "B",
/// "B/s" (powers of 1000, as links and memories are sold) and "1"; other units stay as they are.
UnitScale scale_for(std::string_view unit, double largest);

/// "0", "1.20", "12.3", "12,345", "3.1e-09"; `significant` digits. "n/a" for values that are not finite.
std::string number(double value, int significant = 3);

/// Of a half-width or a spread: two significant digits without zeros at the end, "0.08", "2", "110".
std::string uncertainty(double value);

/// "12.3 ms", "1.05 GB", "0.87"; with `sign`, "+12.3 ms".
std::string quantity(double value, std::string_view unit, bool sign = false);

/// "103.4 ms" of nanoseconds: four digits, as all reports show times.
std::string time_in_words(double time_ns);

/// A change by this share of what was before: "+3.1%", "-40.0%". Beyond a hundredfold "over +10000%": there the digits mean nothing.
std::string signed_percent(double share);

}  // namespace ddbench
