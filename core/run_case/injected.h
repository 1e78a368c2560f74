#pragma once

namespace ddbench {

/// Environment variable with faults that ranks of a reference workload inject into themselves, to be found
/// (harness/training/injected_faults.h). A run with it has its value as the tag "injected".
inline constexpr const char* kInjectVariable = "DDBENCH_INJECT";

}  // namespace ddbench
