// Stands before the collectives of MPI in C: blocking, nonblocking (from the call until the program sees that
// it is complete, completion.cpp) and persistent ones, which Open MPI 4 has under names of its own.
#include "probes/preload/mpi/around.h"
#include "probes/preload/mpi/collective_table.h"
#include "probes/preload/original.h"

namespace mpi = ddbench::inject::mpi;
using ddbench::inject::original;
using namespace ddbench::inject::mpi;  // NOLINT: what describes the rows of the table

namespace {

std::uintptr_t word_of(const void* request) {
  return reinterpret_cast<std::uintptr_t>(mpi::handle_at(request, 0));
}

}  // namespace

// For each kind of call: its function, of the row's parameters and those of the kind.
#define DDBENCH_BLOCKING(function, parameters, arguments, description)                      \
  int function parameters {                                                                 \
    const auto next = original<&function>(__builtin_return_address(0));                     \
    return mpi::blocking([&] { return next arguments; }, [&] { return mpi::description; }); \
  }
#define DDBENCH_WITH_REQUEST(kind, function, parameters, arguments, description)       \
  int function parameters {                                                            \
    const auto next = original<&function>(__builtin_return_address(0));                \
    return mpi::kind([&] { return next arguments; }, [&] { return word_of(request); }, \
                     [&] { return mpi::description; });                                \
  }
#define DDBENCH_NONBLOCKING(function, parameters, arguments, description)               \
  DDBENCH_WITH_REQUEST(nonblocking, function, (DDBENCH_LIST parameters, void* request), \
                       (DDBENCH_LIST arguments, request), description)
#define DDBENCH_PERSISTENT(function, parameters, arguments, description)                            \
  DDBENCH_WITH_REQUEST(persistent, function, (DDBENCH_LIST parameters, Handle info, void* request), \
                       (DDBENCH_LIST arguments, info, request), description)

#define DDBENCH_IN_C(L, name, lower, parameters, arguments, description)    \
  DDBENCH_BLOCKING(MPI_##name, parameters, arguments, description)          \
  DDBENCH_NONBLOCKING(MPI_I##lower, parameters, arguments, description)     \
  DDBENCH_PERSISTENT(MPI_##name##_init, parameters, arguments, description) \
  DDBENCH_PERSISTENT(MPIX_##name##_init, parameters, arguments, description)
#define DDBENCH_IN_LARGE_C(L, name, lower, parameters, arguments, description) \
  DDBENCH_BLOCKING(MPI_##name##_c, parameters, arguments, description)         \
  DDBENCH_NONBLOCKING(MPI_I##lower##_c, parameters, arguments, description)    \
  DDBENCH_PERSISTENT(MPI_##name##_init_c, parameters, arguments, description)

extern "C" {

DDBENCH_MPI_BARRIER(DDBENCH_IN_C, InC)
DDBENCH_MPI_COLLECTIVES(DDBENCH_IN_C, InC)
DDBENCH_MPI_COLLECTIVES(DDBENCH_IN_LARGE_C, InLargeC)

}  // extern "C"

#undef DDBENCH_BLOCKING
#undef DDBENCH_WITH_REQUEST
#undef DDBENCH_NONBLOCKING
#undef DDBENCH_PERSISTENT
#undef DDBENCH_IN_C
#undef DDBENCH_IN_LARGE_C
