#pragma once

#include <vector>

#include "probes/preload/mpi/library.h"

namespace ddbench::inject::mpi {

/// Of a communicator with a topology, in the order of the receive buffer's parts: whether there is a
/// neighbour that sends the part (at the border of a grid that is not periodic there is none). Empty for
/// other communicators.
std::vector<bool> neighbors_that_send(Handle communicator);

}  // namespace ddbench::inject::mpi
