#pragma once

#include <cstddef>

#include "harness/collective/communicator.h"

namespace ddbench::collective {

/// sum[i] = left[i] + right[i], as reductions want it; `sum` may be `left` or `right`.
using SumFunction = void (*)(void* sum, const void* left, const void* right, std::size_t elements);

/// Sums of 16-bit numbers are taken in float32 and rounded to the nearest, ties to even.
SumFunction sum_function(ElementType type);

}  // namespace ddbench::collective
