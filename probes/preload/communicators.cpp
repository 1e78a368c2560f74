#include "probes/preload/communicators.h"

#include "core/name_table.h"
#include "core/nccl_event.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::inject {

void report_size(CommunicatorUse& use) noexcept {
  if (use.ranks < 1 || (use.reported_to != 0 && use.reported_to == recorder_generation())) return;
  const RecorderAccess access;
  use.reported_to = access.generation();
  if (access.get() == nullptr) return;
  try {
    access.get()->intern(communicator_size_name({use.number, use.ranks}));
  } catch (...) {  // without memory: the size stays unknown
  }
}

std::uint16_t communicator_number(std::uint64_t kind, std::uint64_t place) noexcept {
  // The multiplication spreads neighbouring values over all bits (Fibonacci hashing).
  const std::uint64_t mixed = (kind + (place << 32) + place + 1) * 0x9E37'79B9'7F4A'7C15ULL;
  return fold_communicator(mixed ^ (mixed >> 29));
}

}  // namespace ddbench::inject
