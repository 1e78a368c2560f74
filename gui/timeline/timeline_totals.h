#pragma once

#include <cstdint>
#include <vector>

#include "gui/timeline/timeline.h"

namespace ddbench::gui {

struct KindTotal {
  SpanKind kind = SpanKind::kHost;
  double mean_ns = 0;  ///< of the ranks: time of the range that spans of this kind cover, nested ones once
};

/// What the ranks did from `from_ns` to `to_ns`, largest first; lanes of a rank add up. Visits the spans of the range.
std::vector<KindTotal> totals_between(const Timeline& timeline, std::int64_t from_ns, std::int64_t to_ns);

}  // namespace ddbench::gui
