#pragma once

#include <cstdint>

#include "probes/preload/mpi/arguments.h"
#include "probes/preload/session.h"

/// What each collective of MPI is for us: its name, how many bytes it moves, and the communicator. Of
/// arguments, those that MPI_IN_PLACE leaves without meaning (they may be null) are never read.
namespace ddbench::inject::mpi {

struct Described {
  CallName name;
  std::uint64_t bytes;
  Handle communicator;
};

Described all_reduce(std::int64_t count, Handle type, Handle communicator);
Described reduce(std::int64_t count, Handle type, Handle communicator);
Described scan(std::int64_t count, Handle type, Handle communicator);
Described broadcast(std::int64_t count, Handle type, Handle communicator);
Described barrier(Handle communicator);
Described all_gather(std::int64_t count, Handle type,
                     Handle communicator);  ///< `count`: received from each rank
Described all_gather_v(Counts counts, Handle type, Handle communicator);
Described reduce_scatter(std::int64_t count, Handle type, Handle communicator);  ///< `count`: received
Described reduce_scatter_v(Counts counts, Handle type, Handle communicator);
Described all_to_all(std::int64_t count, Handle type,
                     Handle communicator);  ///< `count`: received from each rank
Described all_to_all_v(Counts counts, Handle type, Handle communicator);
Described all_to_all_w(Counts counts, Types types, Handle communicator);

/// Of a gather or scatter over its whole communicator: a rank's own part, and each part at the root.
struct Part {
  std::int64_t count = 0;
  Handle type = nullptr;
};
Described gather(Part here, Part at_root, int root, Handle communicator);
Described scatter(Part here, Part at_root, int root, Handle communicator);

/// With parts of different sizes: the root knows the sum, which counts; another rank its own part.
struct Parts {
  Counts counts;
  Handle type;
};
Described gather_v(Part here, Parts at_root, int root, Handle communicator);
Described scatter_v(Part here, Parts at_root, int root, Handle communicator);

/// With the neighbours in the communicator's topology: bytes that this rank receives of those that exist.
Described neighbor_all_gather(std::int64_t count, Handle type, Handle communicator);
Described neighbor_all_gather_v(Counts counts, Handle type, Handle communicator);
Described neighbor_all_to_all(std::int64_t count, Handle type, Handle communicator);
Described neighbor_all_to_all_v(Counts counts, Handle type, Handle communicator);
Described neighbor_all_to_all_w(Counts counts, Types types, Handle communicator);

}  // namespace ddbench::inject::mpi
