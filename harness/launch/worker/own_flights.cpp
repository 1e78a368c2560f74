#include "harness/launch/worker/own_flights.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/clock.h"
#include "harness/launch/machine/process_flights.h"
#include "probes/recorder/flight_ring.h"

namespace ddbench::launch {
namespace {

constexpr int kAnyRank = std::numeric_limits<int>::max();  // the folder is one rank's

std::int64_t newest_ns(const host::FlightRecord& record) {
  std::int64_t newest = 0;
  for (const host::FlightOperation& operation : record.operations) newest = std::max({newest, operation.begin_ns, operation.end_ns});
  return newest;
}

std::int64_t newest_ns(const ProcessFlight& flight) {
  const auto record = host::parse_flight(flight.ring);
  return record ? newest_ns(*record) : 0;
}

}  // namespace

std::vector<Flight> own_flights(const std::filesystem::path& folder, std::uint32_t request) {
  std::vector<ProcessFlight> processes;
  if (!folder.empty()) {
    processes = read_process_flights(folder, kAnyRank);
    find_stopped_processes(folder, kAnyRank, processes);
  }
  if (processes.size() > kMostProcessFlights) {
    std::stable_sort(processes.begin(), processes.end(), [](const auto& a, const auto& b) { return newest_ns(a) > newest_ns(b); });
    processes.resize(kMostProcessFlights);
  }
  std::vector<Flight> flights;
  for (const ProcessFlight& each : processes) {
    flights.push_back({request, static_cast<std::uint32_t>(processes.size()), each.pid, each.is_stopped, each.is_over, now_ns(),
                    {each.ring.begin(), each.ring.end()}});
  }
  if (flights.empty()) flights.push_back({request, 0, 0, false, false, now_ns(), {}});
  return flights;
}

CollectiveState collectives_of_program(const std::filesystem::path& folder) {
  CollectiveState state;
  std::int64_t newest = 0;
  for (const ProcessFlight& process : read_process_flights(folder, kAnyRank)) {
    const auto record = host::parse_flight(process.ring);
    if (!record || record->operations.empty()) continue;
    state.sequence += record->entered;
    for (const host::FlightOperation& operation : record->operations) state.inside |= operation.end_ns == 0;
    if (newest_ns(*record) <= newest) continue;
    newest = newest_ns(*record);
    state.function = record->operations.back().name;
  }
  if (newest > 0) state.for_ns = std::max<std::int64_t>(0, now_ns() - newest);
  return state;
}

}  // namespace ddbench::launch
