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

/// Takes the readings (spans named kCpuWaitMain and kCpuWaitCommunication, probes/preload/thread_cpu_wait.h)
/// out of what a rank recorded, before its steps are sought. Nothing where the rank has none: it did not
/// measure CPU wait. A wait is at most as long as its reading.
std::optional<std::vector<CpuWaitReading>> take_cpu_wait(ProgramRank& rank);

/// By step (kStep spans with the probes on): the CPU wait in it. When a thread waited within a reading is not
/// known, so a wait is taken to lie evenly over its reading. Every step of the rank is there.
std::map<std::uint32_t, CpuWait> cpu_wait_of_steps(const std::vector<CpuWaitReading>& readings,
                                                   const std::vector<Span>& spans);

}  // namespace ddbench::analyzer
