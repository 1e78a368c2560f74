#pragma once

#include <cstdint>

#include "probes/preload/session.h"

/// What each collective of MPI is for us: its name, how many bytes it moves, and which of its communicator's
/// it is. Declared here and not by mpi.h: a communicator or a datatype is an address in Open MPI and a number
/// in MPICH, and either is passed on as the word that it is, so that one build serves both. Of arguments,
/// those that MPI_IN_PLACE leaves without meaning (they may be null) are never read. Called once a
/// collective, in the order of the program.
namespace ddbench::inject::mpi {

struct OpaqueHandle;
using Handle = OpaqueHandle*;

Collective all_reduce(int count, Handle type, Handle communicator);
Collective reduce(int count, Handle type, Handle communicator);
Collective broadcast(int count, Handle type, Handle communicator);
Collective barrier(Handle communicator);
Collective all_gather(int count, Handle type, Handle communicator);  ///< `count`: received from each rank
Collective all_gather(const int* counts, Handle type, Handle communicator);
Collective reduce_scatter(int count, Handle type, Handle communicator);  ///< `count`: received
Collective reduce_scatter(const int* counts, Handle type, Handle communicator);
Collective all_to_all(int count, Handle type, Handle communicator);  ///< `count`: received from each rank
Collective all_to_all(const int* counts, Handle type, Handle communicator);

/// Of a gather or scatter over its whole communicator: a rank's own part, and each part at the root.
struct Part {
  int count = 0;
  Handle type = nullptr;
};
Collective gather(Part here, Part at_root, int root, Handle communicator);
Collective scatter(Part here, Part at_root, int root, Handle communicator);

}  // namespace ddbench::inject::mpi
