#pragma once

#include <cstdint>

#include "core/run_case/run_case.h"

namespace ddbench {

/// The learning rate that a reference workload applies in a step, counted from 0. With k = global batch / base batch,
/// the rule makes lr into k lr ("linear": Goyal et al. 2017), sqrt(k) lr ("sqrt": Krizhevsky 2014, usual with Adam) or
/// leaves it ("none"); over the first `lr_warmup` steps it rises linearly to that value, which step lr_warmup - 1 has.
double learning_rate(const RunCase& run_case, std::uint32_t step);

/// The same after the warm-up.
double settled_learning_rate(const RunCase& run_case);

}  // namespace ddbench
