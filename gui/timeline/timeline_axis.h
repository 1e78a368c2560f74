#pragma once

#include <QString>
#include <vector>

#include "gui/timeline/timeline_row.h"

namespace ddbench::gui {

struct TimeTick {
  double at_ns = 0;
  QString text;
};

/// Round times since `zero_ns` within the window, about `most` at most, with texts that tell neighbours apart.
std::vector<TimeTick> time_ticks(const TimeWindow& window, double zero_ns, int most);

}  // namespace ddbench::gui
