#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/machine/process_flights.h"
#include "probes/recorder/flight_ring.h"

namespace ddbench::launch {

/// What a rank has in its flight recorder; no operations where it has none. Times are of the launcher's clock.
struct RankFlight {
  int rank = 0;
  host::FlightRecord record;
  bool is_stopped = false;  ///< a process of it is (SIGSTOP, a debugger)
  bool is_known = true;     ///< false: a rank elsewhere that has not reported it
  bool is_over = false;     ///< the process that recorded it has ended
};

/// The flights of all ranks, ascending. Where several processes of a rank have recorders, that of the one with the newest collective.
/// Of a program that is started once a node (`per_node`), or of which a process says that it is one of more than `world_size` ranks, a
/// process is the rank that it says it is, and others are left out.
std::vector<RankFlight> flights_of(const std::vector<ProcessFlight>& processes, int world_size, bool per_node);

/// Whether some rank is in a collective, and none has entered or left one for `limit`. `now_ns`: now_ns().
bool stands_still(const std::vector<RankFlight>& flights, std::chrono::nanoseconds limit, std::int64_t now_ns);

/// The same, as a reason to end the run: a collective counts only where its end would be reported, and its process lives.
bool stands_still_for_certain(const std::vector<RankFlight>& flights, std::chrono::nanoseconds limit, std::int64_t now_ns);

/// Which ranks did not enter which collective, in a run that stands still, and which are stopped; nothing where the recorders do not
/// show it.
std::optional<std::string> who_is_awaited(const std::vector<RankFlight>& flights, std::int64_t now_ns);

/// The same for a run that is ended for it, whatever the recorders show: where they name no rank, the collective that all have entered.
std::string why_they_stand(const std::vector<RankFlight>& flights, std::int64_t now_ns);

/// A line a rank: where it is, and its last collectives. "rank 3: in all_reduce #41 of group 0 for 5.0 s; before: #40 (1.2 ms)".
std::vector<std::string> flights_in_words(const std::vector<RankFlight>& flights, std::int64_t now_ns);

}  // namespace ddbench::launch
