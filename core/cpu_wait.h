#pragma once

#include <cstdint>
#include <string_view>

namespace ddbench {

/// Scalars of each step with the probes on: how long threads of the rank were ready to run without a core, in
/// nanoseconds. The thread that trains, and those that carry out its collectives, together.
inline constexpr std::string_view kCpuWaitMain = "cpu_wait.main_ns";
inline constexpr std::string_view kCpuWaitCommunication = "cpu_wait.communication_ns";

/// Run-queue delay of a rank's threads within one step.
struct CpuWait {
  std::int64_t main_ns = 0;
  std::int64_t communication_ns = 0;
};

}  // namespace ddbench
