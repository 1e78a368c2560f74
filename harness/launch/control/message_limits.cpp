#include "harness/launch/control/message_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/span_limits.h"

namespace ddbench::launch {
namespace {

constexpr int kMostTurns = 1 << 24;
constexpr double kMostLogRatio = 1e9;
constexpr std::uint64_t kMostSpans = std::uint64_t{1} << 60;

/// Collects the first value that is out of its range.
class Limits {
 public:
  template <typename T>
  void in(const char* what, T value, T first, T last) {
    if (why_.empty() && (value < first || value > last)) why_ = fmt::format("{} is {}", what, value);
  }
  void step(std::uint32_t step) { in("the step", step, std::uint32_t{0}, kLastStep); }
  void memory(std::int64_t bytes) {
    in("the peak memory", bytes, std::int64_t{0}, static_cast<std::int64_t>(kMostBytes));
  }
  void dropped(std::uint64_t spans) {
    in("the number of dropped spans", spans, std::uint64_t{0}, kMostSpans);
  }
  void clock(const ClockReading& reading) {
    if (!why_.empty() || within_limits(reading)) return;
    why_ = fmt::format("a clock reading has time {} ns, offset {} ns and uncertainty {} ns", reading.at_ns,
                       reading.offset_ns, reading.uncertainty_ns);
  }
  std::string why() { return std::move(why_); }

 private:
  std::string why_;
};

template <typename Unlimited>
void check(const Unlimited&, Limits&) {}

void check(const Hello& hello, Limits& limits) {
  limits.in("the rank", hello.rank, 0, kMostRanks - 1);
  limits.in("the local rank", hello.local_rank, -1, kMostRanks - 1);
  limits.in("the world size", hello.world_size, -1, kMostRanks);
  limits.in("the process id", hello.pid, std::int64_t{0},
            std::int64_t{std::numeric_limits<std::int32_t>::max()});
}

void check(const Ready& ready, Limits& limits) {
  limits.clock(ready.clock);
}

void check(const Turn& turn, Limits& limits) {
  limits.in("the number of a turn", turn.number, 0, kMostTurns - 1);
}

void check(const Stop& stop, Limits& limits) {
  limits.in("the exit code", stop.exit_code, 1, 255);
}

void check(const Finish& finish, Limits& limits) {
  limits.in("the exit code", finish.exit_code, 0, 255);
}

void check(const TurnsEnd& end, Limits& limits) {
  limits.in("the exit code", end.exit_code, 0, 255);
}

void check(const ClockRead& read, Limits& limits) {
  limits.clock(read.clock);
}

void check(const Heartbeat& beat, Limits& limits) {
  limits.step(beat.steps_completed);
  limits.in("the time in a collective", beat.collective.for_ns, std::int64_t{0}, kLatest_ns);
  limits.in("the time in all collectives", beat.collectives_ns, std::int64_t{0}, kLatest_ns);
  limits.in("the number of collectives", beat.collective.sequence, std::uint64_t{0}, kMostSpans);
  limits.memory(beat.peak_memory_bytes);
}

void check(const StepTimes& times, Limits& limits) {
  limits.in("the time of the measured steps", times.measured_ns, std::int64_t{0}, kLatest_ns);
  for (const StepWindow& window : times.windows) {
    limits.in("the number of steps", window.steps, std::uint32_t{1}, kLastStep);
    limits.in("the time of steps", window.time_ns, std::int64_t{0}, kLatest_ns);
    limits.in("the number of pairs", window.pairs, std::uint32_t{0}, window.steps);
    limits.in("the cost of the probes", std::isfinite(window.log_ratio) ? window.log_ratio : kMostLogRatio + 1,
              -kMostLogRatio, kMostLogRatio);
  }
}

void check(const Hold& hold, Limits& limits) {
  limits.in("the lead", hold.lead_ns, std::int64_t{0}, kLatest_ns);
}

void check(const Result& result, Limits& limits) {
  limits.step(result.steps_done);
  limits.in("the time that it waited", result.wait_ns, std::int64_t{0}, kLatest_ns);
  limits.dropped(result.dropped_spans);
  limits.memory(result.peak_memory_bytes);
  limits.clock(result.clock);
}

void check(const Failure& failure, Limits& limits) {
  limits.dropped(failure.dropped_spans);
  limits.memory(failure.peak_memory_bytes);
}

void check(const Holding& holding, Limits& limits) {
  limits.step(holding.step);
}

void check(const Flight& flight, Limits& limits) {
  limits.in("the number of processes", flight.processes, std::uint32_t{0}, std::uint32_t{64});
  limits.in("the size of a flight recorder", flight.ring.size(), std::size_t{0}, Flight::kMostBytes);
  limits.in("the time of a flight recorder", flight.read_at_ns, std::int64_t{0}, kLatest_ns);
}

void check(const RankOwnTime& time, Limits& limits) {
  limits.step(time.steps);
  limits.in("the time of operators", time.compute_ns, std::int64_t{-1}, kLatest_ns);
  limits.in("the time in the loader", time.data_ns, std::int64_t{0}, kLatest_ns);
  limits.in("the time without a core", time.cpu_wait_ns, std::int64_t{0}, kLatest_ns);
}

void check(const KvGather& request, Limits& limits) {
  limits.in("the number of keys", request.count, std::uint32_t{1}, KvGather::kMostParts);
  const auto places = static_cast<std::int32_t>(std::min(request.count, KvGather::kMostParts));
  limits.in("the place of a rank", request.index, std::int32_t{-1}, places - 1);
}

void check(const LastStep& last, Limits& limits) {
  limits.step(last.step);
}

void check(const Pong& pong, Limits& limits) {
  limits.in("the time of the answer", pong.reference_ns, -kLatest_ns, kLatest_ns);
}

void check(const Assignment& assignment, Limits& limits) {
  limits.in("the rank", assignment.rank, 0, kMostRanks - 1);
  limits.in("the local rank", assignment.local_rank, 0, kMostRanks - 1);
  limits.in("the node", assignment.node, 0, kMostRanks - 1);
  limits.in("the world size", assignment.world_size, 1, kMostRanks);
  limits.in("the core slot", assignment.core_slot, -1, kMostRanks - 1);
}

}  // namespace

std::string why_impossible(const Message& message) {
  Limits limits;
  std::visit([&limits](const auto& each) { check(each, limits); }, message);
  return limits.why();
}

}  // namespace ddbench::launch
