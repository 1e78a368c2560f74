#include "harness/microbench/lock_step.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/clock.h"

namespace ddbench::micro {
namespace {

constexpr std::size_t kMostBatches = 5;
constexpr std::size_t kFewestBatches = 2;
constexpr double kTrialShare = 0.05;         // of the time for a measurement
constexpr double kMostIterations = 1 << 20;  // of a batch; float32, which carries them, is exact beyond it

struct Work {
  const std::function<void()>& call;
  const std::function<void()>& finish;
  const std::function<void()>& progressed;
};

/// Of an iteration.
double time_of(std::int64_t iterations, const Work& work) {
  const std::int64_t begin_ns = now_ns();
  for (std::int64_t i = 0; i < iterations; ++i) work.call();
  if (work.finish) work.finish();
  const std::int64_t end_ns = now_ns();
  if (work.progressed) work.progressed();
  return static_cast<double>(end_ns - begin_ns) / static_cast<double>(iterations);
}

/// What rank 0 has.
std::int64_t agreed(collective::Communicator& communicator, double value) {
  std::array<float, 1> shared = {static_cast<float>(std::clamp(value, 1.0, kMostIterations))};
  communicator.broadcast(collective::Elements(std::span<float>(shared)), 0);
  return static_cast<std::int64_t>(shared[0]);
}

double trial_time_ns(collective::Communicator& communicator, double seconds, const Work& work) {
  communicator.barrier();
  const double first_ns = time_of(1, work);  // pages, connections and caches are warm after it
  const std::int64_t iterations = agreed(communicator, seconds * 1e9 * kTrialShare / first_ns);
  communicator.barrier();
  return time_of(iterations, work);
}

}  // namespace

TimedBatches time_in_lock_step(collective::Communicator& communicator, double seconds,
                               const std::function<void()>& call, const std::function<void()>& finish,
                               const std::function<void()>& progressed) {
  const Work work{call, finish, progressed};
  const double trial_ns = trial_time_ns(communicator, seconds, work);
  TimedBatches timed;
  timed.iterations = agreed(communicator, std::floor(seconds * 1e9 / kMostBatches / trial_ns));
  const auto iterations = static_cast<double>(timed.iterations);
  double spent_ns = 0;
  for (bool more = true; more;) {
    communicator.barrier();
    timed.times_ns.push_back(time_of(timed.iterations, work));
    spent_ns += timed.times_ns.back() * iterations;
    const std::size_t batches = timed.times_ns.size();
    const bool in_time = spent_ns < seconds * 1e9 || batches < kFewestBatches;
    more = agreed(communicator, batches < kMostBatches && in_time ? 2 : 1) == 2;
  }
  return timed;
}

}  // namespace ddbench::micro
