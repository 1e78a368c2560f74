#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "harness/launch/control/messages.h"
#include "harness/launch/machine/process_flights.h"

namespace ddbench::launch {

/// What ranks elsewhere told of their flight recorders when they were asked last (TellFlights).
class AskedFlights {
 public:
  /// The next question. What was told before stays until a rank has answered it.
  TellFlights ask() { return {++request_}; }
  bool asked() const noexcept { return request_ > 0; }
  /// `now_ns`: now_ns() of the launcher at its arrival. Answers to older questions are ignored.
  void take(int rank, const Flight& flight, std::int64_t now_ns);
  /// Whether the rank has answered the last question.
  bool has_answered(int rank) const;
  /// Whether the rank has answered any.
  bool has_told(int rank) const { return told_.contains(rank); }
  /// Of all ranks, as they told last.
  std::vector<ProcessFlight> all() const;

 private:
  struct Told {
    std::uint32_t request = 0;
    std::uint32_t expected = 0;
    std::vector<ProcessFlight> processes;
  };
  std::uint32_t request_ = 0;
  std::map<int, Told> told_;
};

}  // namespace ddbench::launch
