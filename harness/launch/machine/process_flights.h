#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ddbench::launch {

/// The flight recorder of a process of a rank (probes/recorder/flight_ring.h), at the time when it was read.
struct ProcessFlight {
  int started_rank = 0;     ///< the rank that ddbench started; it may have several processes, or start ranks by itself
  std::int64_t pid = 0;     ///< as the process sees itself; 0: of the rank's own, where the workload is ddbench's
  bool is_stopped = false;  ///< SIGSTOP, a debugger
  std::string ring;         ///< bytes of a host::FlightRing; empty: it has none
  std::int64_t later_ns = 0;  ///< the launcher's clock minus the one that its times are of
  bool is_over = false;       ///< the process has ended
};

inline constexpr std::size_t kMostProcessFlights = 64;  ///< that a remote rank reports

/// Those in a run's folder, of ranks below `world_size`.
std::vector<ProcessFlight> read_process_flights(const std::filesystem::path& run_directory, int world_size);

/// Looks into /proc which processes of a program are stopped. Those without a recorder are added.
void find_stopped_processes(const std::filesystem::path& run_directory, int world_size, std::vector<ProcessFlight>& flights);

}  // namespace ddbench::launch
