#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/program/program_steps.h"
#include "core/cpu_wait.h"

namespace ddbench::analyzer {

/// One reading of a program's thread: of [begin, end) it waited `wait.main_ns` or `wait.communication_ns` for
/// a core.
struct CpuWaitReading {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  CpuWait wait;
};

/// Removes the readings (spans named kCpuWaitMain and kCpuWaitCommunication,
/// probes/preload/thread_cpu_wait.h) from a rank's recording, before its steps are sought. Nothing if the
/// rank has none: it did not measure CPU wait. A wait is at most as long as its reading.
std::optional<std::vector<CpuWaitReading>> take_cpu_wait(ProgramRank& rank);

/// The CPU wait by step (kStep spans with the probes on). It is not known when a thread waited within a
/// reading, so a wait is assumed to be spread evenly over its reading. The result contains every step of the
/// rank.
std::map<std::uint32_t, CpuWait> cpu_wait_of_steps(const std::vector<CpuWaitReading>& readings,
                                                   const std::vector<Span>& spans);

}  // namespace ddbench::analyzer
