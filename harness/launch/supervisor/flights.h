#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probes/recorder/flight_ring.h"

namespace ddbench::launch {

/// What a rank on this machine left in its flight recorder; no operations where it has none.
struct RankFlight {
  int rank = 0;
  host::FlightRecord record;
};

/// The flights of all ranks, ascending. Where several processes of a rank have recorders, that of the one with the newest collective.
std::vector<RankFlight> read_flights(const std::filesystem::path& run_directory, int world_size);

/// Ranks of a program of which a process is stopped (SIGSTOP, a debugger), as /proc says.
std::set<int> stopped_ranks(const std::filesystem::path& run_directory, int world_size);

/// Whether some rank is in a collective, and none has entered or left one for `limit`. `now_ns`: now_ns().
bool stands_still(const std::vector<RankFlight>& flights, std::chrono::nanoseconds limit, std::int64_t now_ns);

/// Which ranks did not enter which collective, in a run that stands still; nothing where the recorders do not show it. Ranks in
/// `stopped` are called stopped.
std::optional<std::string> who_is_awaited(const std::vector<RankFlight>& flights, std::int64_t now_ns, const std::set<int>& stopped);

/// A line a rank: where it is, and its last collectives. "rank 3: in all_reduce #41 of group 0 for 5.0 s; before: #40 (1.2 ms)".
std::vector<std::string> flights_in_words(const std::vector<RankFlight>& flights, std::int64_t now_ns);

}  // namespace ddbench::launch
