#include <fmt/format.h>

#include "reports/chart/draw.h"

namespace ddbench::reports::svg {
namespace {

constexpr double kArrow = 6;

/// `outwards`: along the value axis in pixels, 1 or -1.
std::string end_path(const Layout& layout, double along, double across, double cap, bool is_cut,
                     double outwards) {
  const double back = along - outwards * (is_cut ? kArrow : 0);
  const auto spot = [&](double value, double side) {
    return layout.horizontal ? fmt::format("{} {}", px(value), px(side))
                             : fmt::format("{} {}", px(side), px(value));
  };
  return fmt::format("M{}L{}L{}", spot(back, across - cap), spot(along, across), spot(back, across + cap));
}

}  // namespace

std::string whisker_path(const Layout& layout, const Interval& interval, double across, double cap) {
  const double low = layout.value_position(interval.low);
  const double high = layout.value_position(interval.high);
  const double upwards = layout.horizontal ? 1 : -1;  // pixels count downwards
  return (layout.horizontal ? fmt::format("M{} {}H{}", px(low), px(across), px(high))
                            : fmt::format("M{} {}V{}", px(across), px(low), px(high))) +
         end_path(layout, low, across, cap, interval.low_is_cut, -upwards) +
         end_path(layout, high, across, cap, interval.high_is_cut, upwards);
}

}  // namespace ddbench::reports::svg
