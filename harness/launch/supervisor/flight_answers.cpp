#include "harness/launch/supervisor/flight_answers.h"

#include <algorithm>

namespace ddbench::launch {

void FlightAnswers::take(int rank, const Flight& flight, std::int64_t now_ns) {
  if (flight.request != request_) return;
  Answer& answer = answers_[rank];
  if (answer.request != flight.request) answer = {flight.request, flight.processes, {}};
  if (flight.processes == 0 || answer.processes.size() >= std::min<std::size_t>(answer.expected, kMostProcessFlights)) return;
  answer.processes.push_back({rank, flight.pid, flight.is_stopped, {flight.ring.begin(), flight.ring.end()}, now_ns - flight.read_at_ns, flight.is_over});
}

bool FlightAnswers::has_answered(int rank) const {
  const auto answer = answers_.find(rank);
  return answer != answers_.end() && answer->second.request == request_ &&
         answer->second.processes.size() == answer->second.expected;
}

std::vector<ProcessFlight> FlightAnswers::all() const {
  std::vector<ProcessFlight> flights;
  for (const auto& [rank, answer] : answers_)
    flights.insert(flights.end(), answer.processes.begin(), answer.processes.end());
  return flights;
}

}  // namespace ddbench::launch
