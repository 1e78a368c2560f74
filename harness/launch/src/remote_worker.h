#pragma once

namespace ddbench::launch {

/// How a rank that was started elsewhere is told where its launcher is ("10.0.0.1:29501") and what proves
/// that it belongs to the run.
inline constexpr const char* kLauncherVariable = "DDBENCH_LAUNCHER";
inline constexpr const char* kTokenVariable = "DDBENCH_TOKEN";

}  // namespace ddbench::launch
