#include "probes/preload/session/live_progress.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <new>

#include "probes/recorder/flight_ring.h"
#include "probes/recorder/live_counts.h"

namespace ddbench::inject {
namespace {

std::atomic<LiveCounts*> counts{nullptr};  // unmapped by the process's end
std::atomic<host::FlightRing*> flight{nullptr};  // likewise
std::atomic<int> in_collectives{0};
std::atomic<std::int64_t> entered_ns{0};

}  // namespace

void open_live_counts(const char* prefix) noexcept {
  std::array<char, 4096> file{};
  std::snprintf(file.data(), file.size(), "%s.%d%s", prefix, static_cast<int>(::getpid()), kLiveSuffix);
  const int opened = ::open(file.data(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (opened < 0) return;
  void* mapped = MAP_FAILED;
  // With its blocks: on a full disk a store into the mapping would kill the program (SIGBUS).
  if (::posix_fallocate(opened, 0, sizeof(LiveCounts)) == 0)
    mapped = ::mmap(nullptr, sizeof(LiveCounts), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  ::close(opened);
  if (mapped != MAP_FAILED) counts.store(new (mapped) LiveCounts);
  std::snprintf(file.data(), file.size(), "%s.%d%s", prefix, static_cast<int>(::getpid()), host::kFlightSuffix);
  flight.store(host::map_flight_ring(file.data()));
}

void close_live_counts() noexcept {
  counts.store(nullptr);
  flight.store(nullptr);
  in_collectives.store(0);
}

void count_step(std::uint64_t steps, std::int64_t now_ns) noexcept {
  LiveCounts* const live = counts.load(std::memory_order_relaxed);
  if (live == nullptr || steps <= live->steps.load(std::memory_order_relaxed)) return;
  const std::int64_t communication_ns = live->communication_ns.load(std::memory_order_relaxed);
  if (steps == 1) {
    live->first_step_ns.store(now_ns, std::memory_order_relaxed);
    live->at_first_step_ns.store(communication_ns, std::memory_order_relaxed);
  }
  live->last_step_ns.store(now_ns, std::memory_order_relaxed);
  live->at_last_step_ns.store(communication_ns, std::memory_order_relaxed);
  live->steps.store(steps, std::memory_order_relaxed);
}

void enter_collective(std::int64_t now_ns) noexcept {
  if (in_collectives.fetch_add(1) == 0) entered_ns.store(now_ns);
}

void leave_collective(std::int64_t now_ns) noexcept {
  const std::int64_t since_ns = entered_ns.load();
  if (in_collectives.fetch_sub(1) != 1) return;
  LiveCounts* const live = counts.load(std::memory_order_relaxed);
  if (live != nullptr && now_ns > since_ns) live->communication_ns.fetch_add(now_ns - since_ns, std::memory_order_relaxed);
}

std::uint64_t note_flight_begin(const char* name, std::uint64_t correlation, std::int64_t now_ns) noexcept {
  host::FlightRing* const ring = flight.load(std::memory_order_relaxed);
  return ring == nullptr ? 0 : ring->enter(name, correlation, now_ns) + 1;
}

void note_flight_end(std::uint64_t number, std::int64_t now_ns) noexcept {
  host::FlightRing* const ring = flight.load(std::memory_order_relaxed);
  if (ring != nullptr && number != 0) ring->leave(number - 1, now_ns);
}

void note_flight_end_unknown(std::uint64_t number) noexcept {
  host::FlightRing* const ring = flight.load(std::memory_order_relaxed);
  if (ring != nullptr && number != 0) ring->mark_end_unknown(number - 1);
}

void note_flight_group(std::uint16_t communicator, int ranks) noexcept {
  host::FlightRing* const ring = flight.load(std::memory_order_relaxed);
  if (ring != nullptr && ranks > 0) ring->add_group(communicator, static_cast<std::uint32_t>(ranks));
}

void note_flight_place(int rank, int ranks) noexcept {
  host::FlightRing* const ring = flight.load(std::memory_order_relaxed);
  if (ring != nullptr && rank >= 0 && rank < ranks) ring->set_place({rank, ranks});
}

}  // namespace ddbench::inject
