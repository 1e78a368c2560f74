#pragma once

#include "core/run_case/run_case.h"

namespace ddbench {

/// Throws Error{kBadInput} naming the first number of the case that no run has: within these limits, products and sums of a case's
/// numbers (world size, global batch, all steps) do not overflow. Part of validate() and of run_case_from_json(): cases come out of
/// stores and messages of others, too.
void check_limits(const RunCase& run_case);

}  // namespace ddbench
