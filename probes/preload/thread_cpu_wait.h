#pragma once

#include <cstdint>

#include "probes/recorder/recorder.h"

namespace ddbench::inject {

/// What the calling thread did since its last reading.
enum class ThreadActivity : std::uint8_t {
  kOther,
  kBeforeCollective,  ///< something else; a collective begins now
  kCollective,
};

/// Ids of the names kCpuWaitMain and kCpuWaitCommunication in the thread's recorder.
struct CpuWaitNames {
  std::uint32_t main = 0;
  std::uint32_t communication = 0;
};

/// Reads how long the calling thread has waited for a core, and records what was added since the last
/// reading: a kHost span from that reading to `at_ns`, which is now, named kCpuWaitCommunication after a
/// collective and on a thread whose lane is kCommunication, else kCpuWaitMain; its `bytes` are the
/// nanoseconds of waiting. The first reading of a thread records a span without a length, which shows that
/// the rank measures CPU wait; later ones record nothing if the thread did not wait. A reading is one system
/// call (below 1 µs), made at most every 200 µs, or every millisecond for kOther: a skipped reading's wait
/// counts in the next one. Never throws. Does nothing in a thread that is ending.
void note_cpu_wait(host::Recorder::Track& track, unsigned generation, CpuWaitNames names,
                   ThreadActivity activity, std::int64_t at_ns) noexcept;

}  // namespace ddbench::inject
