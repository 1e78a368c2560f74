#include "probes/preload/thread_cpu_wait.h"

#include <optional>

#include "core/clock.h"
#include "core/facts/facts.h"
#include "probes/machine/run_queue.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::inject {
namespace {

constexpr std::int64_t kBetweenCollectives_ns = 200'000;
constexpr std::int64_t kBetweenOthers_ns = 1'000'000;

// Trivial, so that it outlives the thread's other variables.
thread_local bool thread_ends = false;

/// Of one thread in one generation of the recorder: a fork leaves the child with its parent's file.
struct ThreadDelay {
  ~ThreadDelay() { thread_ends = true; }

  unsigned generation = 0;
  std::optional<host::RunQueueDelay> file;  // none: the kernel does not account for it
  std::int64_t last_ns = 0;
  std::int64_t delay_ns = 0;
};
thread_local ThreadDelay thread_delay;

void record(host::Recorder::Track& track, std::uint32_t name_id, std::int64_t begin_ns, std::int64_t end_ns,
            std::int64_t delay_ns) noexcept {
  Span span;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.kind = SpanKind::kHost;
  span.name_id = name_id;
  span.bytes = static_cast<std::uint64_t>(delay_ns);
  track.record(span);
}

std::uint32_t name_of(const host::Recorder::Track& track, CpuWaitNames names,
                      ThreadActivity activity) noexcept {
  const bool communicates = activity == ThreadActivity::kCollective || track.lane() == Lane::kCommunication;
  return communicates ? names.communication : names.main;
}

void first_reading(host::Recorder::Track& track, unsigned generation, std::uint32_t name_id) {
  ThreadDelay& thread = thread_delay;
  thread.generation = generation;
  thread.last_ns = now_ns();
  thread.file.emplace(host::own_thread());
  const Measured<std::int64_t> delay_ns = thread.file->read_ns();
  if (delay_ns) {
    thread.delay_ns = *delay_ns;
    return record(track, name_id, thread.last_ns, thread.last_ns, 0);
  }
  thread.file.reset();
  const RecorderAccess access;
  if (access.get() != nullptr && access.generation() == generation)
    access.get()->intern(reported(fact_key<"cpu_wait.unavailable">, delay_ns.reason()));
}

}  // namespace

void note_cpu_wait(host::Recorder::Track& track, unsigned generation, CpuWaitNames names,
                   ThreadActivity activity, std::int64_t at_ns) noexcept try {
  if (thread_ends) return;
  ThreadDelay& thread = thread_delay;
  const std::uint32_t name_id = name_of(track, names, activity);
  if (thread.generation != generation) return first_reading(track, generation, name_id);
  const std::int64_t between_ns =
      activity == ThreadActivity::kOther ? kBetweenOthers_ns : kBetweenCollectives_ns;
  if (!thread.file || at_ns - thread.last_ns < between_ns) return;
  const Measured<std::int64_t> delay_ns = thread.file->read_ns();
  if (!delay_ns) return;
  if (*delay_ns > thread.delay_ns) record(track, name_id, thread.last_ns, at_ns, *delay_ns - thread.delay_ns);
  thread.last_ns = at_ns;
  thread.delay_ns = *delay_ns;
} catch (...) {
}

}  // namespace ddbench::inject
