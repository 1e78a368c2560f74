#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "harness/launch/control/messages.h"
#include "harness/launch/machine/process_flights.h"

namespace ddbench::launch {

/// The flight recorders of ranks elsewhere, as they answered the last FlightRequest.
class FlightAnswers {
 public:
  /// The next request. An earlier answer of a rank stays until the rank has answered this one.
  FlightRequest ask() { return {++request_}; }
  bool asked() const noexcept { return request_ > 0; }
  /// `now_ns`: now_ns() of the launcher at its arrival. Answers to earlier requests are ignored.
  void take(int rank, const Flight& flight, std::int64_t now_ns);
  /// Whether the rank has answered the last request.
  bool has_answered(int rank) const;
  /// Whether the rank has answered any.
  bool has_any(int rank) const { return answers_.contains(rank); }
  /// The last answers of all ranks.
  std::vector<ProcessFlight> all() const;

 private:
  struct Answer {
    std::uint32_t request = 0;
    std::uint32_t expected = 0;
    std::vector<ProcessFlight> processes;
  };
  std::uint32_t request_ = 0;
  std::map<int, Answer> answers_;
};

}  // namespace ddbench::launch
