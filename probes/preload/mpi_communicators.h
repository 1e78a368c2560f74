#pragma once

#include <cstdint>

#include "probes/preload/mpi_collectives.h"

/// The communicators of a program over MPI. Those of one list of members have the same numbers on all ranks.
namespace ddbench::inject::mpi {

/// A function of MPI that answers with a number.
using Question = int(Handle, int*);
Question* find_question(const char* function);
int asked(Question* question, Handle about);

/// Between two groups of ranks, what a rank gives or takes is counted by the other group.
bool is_between_groups(Handle communicator);
/// How many ranks take part, of two groups those of the other.
std::int64_t size_of(Handle communicator);

/// collective_key() of the communicator's next collective, whose size is reported before its first one.
std::uint64_t key_of_next(Handle communicator);
/// The program is about to free it: another one may get its handle.
void forget(Handle communicator);

}  // namespace ddbench::inject::mpi
