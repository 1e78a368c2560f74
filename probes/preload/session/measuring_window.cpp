#include "probes/preload/session/measuring_window.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "core/clock.h"
#include "probes/preload/session/live_progress.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::inject {
namespace {

struct Window {
  long long skip = 0;
  long long measure = 0;
  long long duration_ns = 0;
  bool ends() const noexcept { return measure > 0 || duration_ns > 0; }
};

Window window_of_environment() noexcept {
  Window window;
  const char* const text = std::getenv("DDBENCH_WINDOW");
  if (text == nullptr ||
      std::sscanf(text, "%lld %lld %lld", &window.skip, &window.measure, &window.duration_ns) != 3) {
    return {};
  }
  return window;
}

/// Steps of one loop. A program has one or two.
struct Loop {
  std::atomic<std::uint64_t> id{0};
  std::atomic<long long> steps{0};
};
std::array<Loop, 8> loops;
std::atomic<bool> announced{false};
std::atomic<bool> closed{false};
std::atomic<std::int64_t> begin_ns{0};

long long steps_of(std::uint64_t id) noexcept {
  for (Loop& loop : loops) {
    std::uint64_t known = loop.id.load(std::memory_order_relaxed);
    if (known == 0 && loop.steps.load(std::memory_order_relaxed) == 0) loop.id.store(known = id);
    if (known == id) return loop.steps.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return 0;
}

void notify_worker(const char* what) noexcept {
  const char* const spool = std::getenv("DDBENCH_SPOOL");
  if (spool == nullptr) return;
  std::array<char, 4096> file{};
  std::snprintf(file.data(), file.size(), "%s.%d.%s", spool, static_cast<int>(::getpid()), what);
  const int opened = ::creat(file.data(), 0600);
  if (opened >= 0) ::close(opened);
}

}  // namespace

void note_step_ended(std::uint64_t id) noexcept {
  static const Window window = window_of_environment();
  if (closed.load(std::memory_order_relaxed)) return;
  const std::int64_t end_ns = now_ns();
  const long long steps = steps_of(id);
  count_step(static_cast<std::uint64_t>(steps), end_ns);
  if (!window.ends()) return;
  if (!announced.exchange(true)) {
    notify_worker("steps");
    if (window.skip == 0) begin_ns.store(end_ns);
  }
  if (steps == window.skip) begin_ns.store(end_ns);
  const std::int64_t since_ns = begin_ns.load();
  const bool is_over = (window.measure > 0 && steps >= window.skip + window.measure) ||
                       (window.duration_ns > 0 && since_ns != 0 && end_ns - since_ns >= window.duration_ns);
  if (!is_over || closed.exchange(true)) return;
  end_recording();
  notify_worker("closed");
}

}  // namespace ddbench::inject
