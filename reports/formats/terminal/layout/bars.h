#pragma once

#include <cstddef>
#include <string>

namespace ddbench::reports {

/// The width of a bar beside the other columns of a table.
inline constexpr std::size_t kBarColumns = 10;

/// `share` (0 to 1) of `columns`, to an eighth of a column, in block characters. A positive share shows at
/// least an eighth.
std::string bar(double share, std::size_t columns);

/// Bars to both sides of one axis; all bars together take `columns`.
class SignedBars {
 public:
  /// The smallest and the largest value to be drawn.
  SignedBars(double smallest, double largest, std::size_t columns);
  /// Blanks, negative bar, axis, positive bar; not filled up to the right.
  std::string draw(double value) const;

 private:
  double per_column_;
  std::size_t left_;
};

}  // namespace ddbench::reports
