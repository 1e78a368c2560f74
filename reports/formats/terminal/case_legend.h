#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::reports {

/// Numbers for what sets rows apart, which is too long for a column, and the legend that says what they mean.
class CaseLegend {
 public:
  /// "1", "2", ... in the order of the first call; "–" of an empty text.
  std::string number_of(std::string_view text);
  /// A line for each, harmless and no wider than `width`; empty when there is none.
  std::string render(const Paint& paint, std::size_t width) const;

 private:
  std::vector<std::string> texts_;
};

}  // namespace ddbench::reports
