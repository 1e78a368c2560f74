#pragma once

#include <cstdint>

#include "probes/preload/mpi/library.h"

/// The communicators of a program over MPI. Those of one list of members have the same numbers on all ranks.
/// Thread-safe.
namespace ddbench::inject::mpi {

/// Between two groups of ranks, what a rank gives or takes is counted by the other group.
bool is_between_groups(Handle communicator);
/// How many ranks take part, of two groups those of the other.
std::int64_t size_of(Handle communicator);

/// collective_key() of the communicator's next collective, whose size is reported before its first one. Call
/// once a collective, in the order of the program.
std::uint64_t key_of_next(Handle communicator);
/// The same for one that the program only initialises: the key of its first start. Further starts add 1 each.
/// All ranks initialise the persistent collectives of a communicator in one order, but may start them in any.
std::uint64_t key_of_next_persistent(Handle communicator);
/// The program is about to free it: another one may get its handle.
void forget(Handle communicator);

}  // namespace ddbench::inject::mpi
