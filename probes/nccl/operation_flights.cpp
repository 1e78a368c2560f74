#include "probes/nccl/operation_flights.h"

#include <algorithm>
#include <array>

#include "core/clock.h"
#include "core/nccl_event.h"
#include "core/span.h"
#include "probes/preload/session/live_progress.h"
#include "probes/recorder/flight_ring.h"

namespace ddbench::nccl {

void begin_flight(Operation& operation) noexcept {
  const Communicator& communicator = *operation.communicator;
  const std::uint16_t number = fold_communicator(communicator.id);
  std::array<char, host::FlightEntry::kNameWords * sizeof(std::uint64_t)> name{};
  const auto end = std::copy_n(host::kNcclFlightPrefix.begin(), host::kNcclFlightPrefix.size(), name.begin());
  std::copy_n(operation.function.begin(), std::min(operation.function.size(), name.size() - host::kNcclFlightPrefix.size() - 1), end);
  operation.flight = inject::note_flight_begin(name.data(), collective_key(number, operation.sequence + 1), operation.enqueued_ns);
  if (communicator.ranks < 2) return;  // not reported in version 3
  inject::note_flight_group(number, communicator.ranks);
  inject::note_flight_place(communicator.rank, communicator.ranks);
}

void end_flight(Operation& operation) noexcept {
  if (operation.flight != 0) inject::note_flight_end(operation.flight, now_ns());
  operation.flight = 0;
}

void end_open_flight(Communicator& communicator) noexcept {
  if (communicator.open_flight != 0) inject::note_flight_end(communicator.open_flight, now_ns());
  communicator.open_flight = 0;
}

}  // namespace ddbench::nccl
