#include "gui/timeline/timeline_axis.h"

#include <algorithm>
#include <cmath>

#include "gui/timeline/timeline_view.h"
#include "reports/chart/axis.h"

namespace ddbench::gui {

std::vector<TimeTick> time_ticks(const TimeWindow& window, double zero_ns, int most) {
  const double length = window.end_ns - window.begin_ns;
  if (!(length > 0)) return {};
  // Of the length alone: an axis of the times would be widened where they are very large against it. With fewer than 3 it
  // may have a single tick.
  const auto scale = reports::svg::make_axis({0, length, false, false, std::max(most, 3), {}});
  const double apart = scale.ticks.size() > 1 ? scale.ticks[1].value - scale.ticks[0].value : length;
  // A step of 2.5 needs one digit more than its magnitude suggests.
  const double power = std::pow(10, std::floor(std::log10(std::max(apart, 1.0)) + 1e-9));
  const double resolution = std::abs(apart / power - 2.5) < 1e-6 ? power / 10 : apart;
  const double first = std::ceil((window.begin_ns - zero_ns) / apart - 1e-6);
  const double last = std::floor((window.end_ns - zero_ns) / apart + 1e-6);
  // Counted: adding 1 to a number of ticks beyond 2^53 would not change it.
  const int count = static_cast<int>(std::clamp(last - first + 1, 0.0, 2.0 * most));
  std::vector<TimeTick> ticks;
  for (int i = 0; i < count; ++i) {
    const double since_ns = (first + i) * apart;
    ticks.push_back({zero_ns + since_ns, duration_text(since_ns, resolution)});
  }
  return ticks;
}

}  // namespace ddbench::gui
