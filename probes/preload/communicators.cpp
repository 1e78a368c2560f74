#include "probes/preload/communicators.h"

#include <atomic>

#include "core/name_table.h"
#include "core/nccl_event.h"
#include "core/world_place.h"
#include "probes/preload/session/live_progress.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::inject {

void report_size(CommunicatorUse& use) noexcept {
  if (use.ranks < 1 || (use.reported_to != 0 && use.reported_to == recorder_generation())) return;
  const RecorderAccess access;
  use.reported_to = access.generation();
  if (access.get() == nullptr) return;
  note_flight_group(use.number, use.ranks);
  try {
    access.get()->intern(communicator_size_name({use.number, use.ranks}));
  } catch (...) {  // without memory: the size stays unknown
  }
}

void report_place(int rank, int ranks) noexcept {
  // The largest that was reported, and to which recorder: smaller ones say nothing more.
  static std::atomic<std::uint64_t> reported{0};
  const std::uint64_t generation = recorder_generation();
  const std::uint64_t last = reported.load();
  if (ranks < 2 || (last >> 32 == generation && (last & 0xFFFF'FFFF) >= static_cast<std::uint64_t>(ranks))) return;
  const RecorderAccess access;
  if (access.get() == nullptr) return;
  note_flight_place(rank, ranks);
  try {
    access.get()->intern(world_place_name({rank, ranks}));
    reported.store(static_cast<std::uint64_t>(access.generation()) << 32 | static_cast<std::uint64_t>(ranks));
  } catch (...) {  // without memory: the place stays unknown
  }
}

std::uint16_t communicator_number(std::uint64_t kind, std::uint64_t place) noexcept {
  // The multiplication spreads neighbouring values over all bits (Fibonacci hashing).
  const std::uint64_t mixed = (kind + (place << 32) + place + 1) * 0x9E37'79B9'7F4A'7C15ULL;
  return fold_communicator(mixed ^ (mixed >> 29));
}

}  // namespace ddbench::inject
