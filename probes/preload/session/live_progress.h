#pragma once

#include <cstdint>

namespace ddbench::inject {

/// The counts that the launcher shows while the program runs (probes/recorder/live_counts.h). Nothing is
/// counted, and nothing fails, if the file cannot be created. For the process's recorder: creates the file
/// `<prefix>.<pid>.live` if one of ddbench's launchers requested it.
void open_live_counts(const char* prefix) noexcept;
void close_live_counts() noexcept;  ///< a forked child counts anew

/// Step number `steps` of a loop ended at `now_ns`. Two loads and three stores.
void count_step(std::uint64_t steps, std::int64_t now_ns) noexcept;

/// A thread enters a collective, and leaves it. An addition each, and a store where no other thread is in one.
__attribute__((visibility("default"))) void enter_collective(std::int64_t now_ns) noexcept;
__attribute__((visibility("default"))) void leave_collective(std::int64_t now_ns) noexcept;

/// The same in the flight recorder of the process (probes/recorder/flight_ring.h), the file `<prefix>.<pid>.flight`. 0: there is none.
__attribute__((visibility("default"))) std::uint64_t note_flight_begin(const char* name, std::uint64_t correlation, std::int64_t now_ns) noexcept;
__attribute__((visibility("default"))) void note_flight_end_unknown(std::uint64_t number) noexcept;  ///< FlightRing::mark_end_unknown
__attribute__((visibility("default"))) void note_flight_end(std::uint64_t number, std::int64_t now_ns) noexcept;
/// How many ranks a communicator has.
__attribute__((visibility("default"))) void note_flight_group(std::uint16_t communicator, int ranks) noexcept;
/// Which of how many ranks this process is: that with most ranks is kept.
__attribute__((visibility("default"))) void note_flight_place(int rank, int ranks) noexcept;

}  // namespace ddbench::inject
