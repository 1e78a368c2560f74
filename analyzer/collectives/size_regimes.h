#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/statistics/linear_fit.h"

namespace ddbench::analyzer {

inline constexpr std::size_t kFewestSizes = 3;  ///< in a regime

/// The end (index past the last point) of each regime of y = a + b x[1], the points by x[1], kFewestSizes or
/// more.
std::vector<std::size_t> find_regimes(std::span<const FitPoint> points);

}  // namespace ddbench::analyzer
