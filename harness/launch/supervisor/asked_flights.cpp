#include "harness/launch/supervisor/asked_flights.h"

#include <algorithm>

namespace ddbench::launch {

void AskedFlights::take(int rank, const Flight& flight, std::int64_t now_ns) {
  if (flight.request != request_) return;
  Told& told = told_[rank];
  if (told.request != flight.request) told = {flight.request, flight.processes, {}};
  if (flight.processes == 0 || told.processes.size() >= std::min<std::size_t>(told.expected, kMostProcessFlights)) return;
  told.processes.push_back({rank, flight.pid, flight.is_stopped, {flight.ring.begin(), flight.ring.end()}, now_ns - flight.read_at_ns});
}

bool AskedFlights::has_answered(int rank) const {
  const auto told = told_.find(rank);
  return told != told_.end() && told->second.request == request_ && told->second.processes.size() == told->second.expected;
}

std::vector<ProcessFlight> AskedFlights::all() const {
  std::vector<ProcessFlight> flights;
  for (const auto& [rank, told] : told_) flights.insert(flights.end(), told.processes.begin(), told.processes.end());
  return flights;
}

}  // namespace ddbench::launch
