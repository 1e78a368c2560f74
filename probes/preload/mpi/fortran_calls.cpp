// Stands before the collectives of MPI in Fortran. Open MPI's do not call those of C. A program calls
// mpi_allreduce_ with mpif.h and the module mpi, and by way of Open MPI's module mpi_f08 ompi_allreduce_f.
#include "probes/preload/mpi/around.h"
#include "probes/preload/mpi/collective_table.h"
#include "probes/preload/original.h"

namespace mpi = ddbench::inject::mpi;
using ddbench::inject::original;
using namespace ddbench::inject::mpi;  // NOLINT: what describes the rows of the table

namespace {

std::uintptr_t word_of(const int* request) {
  return reinterpret_cast<std::uintptr_t>(mpi::handle_of_fortran(*request, "PMPI_Request_f2c"));
}

}  // namespace

// `error` may be left out in mpi_f08.
#define DDBENCH_BLOCKING(function, parameters, arguments, description)  \
  void function(DDBENCH_LIST parameters, int* error) {                  \
    const auto next = original<&function>(__builtin_return_address(0)); \
    int own = mpi::kSuccess;                                            \
    int* const result = error != nullptr ? error : &own;                \
    const auto call = [&] {                                             \
      next(DDBENCH_LIST arguments, result);                             \
      return *result;                                                   \
    };                                                                  \
    mpi::blocking(call, [&] { return mpi::description; });              \
  }
#define DDBENCH_WITH_REQUEST(kind, function, parameters, arguments, description)   \
  void function parameters {                                                       \
    const auto next = original<&function>(__builtin_return_address(0));            \
    int own = mpi::kSuccess;                                                       \
    int* const result = error != nullptr ? error : &own;                           \
    const auto call = [&] {                                                        \
      next arguments;                                                              \
      return *result;                                                              \
    };                                                                             \
    mpi::kind(                                                                     \
        call, [&] { return word_of(request); }, [&] { return mpi::description; }); \
  }
#define DDBENCH_NONBLOCKING(function, parameters, arguments, description)                          \
  DDBENCH_WITH_REQUEST(nonblocking, function, (DDBENCH_LIST parameters, int* request, int* error), \
                       (DDBENCH_LIST arguments, request, result), description)
#define DDBENCH_PERSISTENT(function, parameters, arguments, description)                     \
  DDBENCH_WITH_REQUEST(persistent, function,                                                 \
                       (DDBENCH_LIST parameters, const int* info, int* request, int* error), \
                       (DDBENCH_LIST arguments, info, request, result), description)

#define DDBENCH_IN_FORTRAN(L, name, lower, parameters, arguments, description)  \
  DDBENCH_BLOCKING(mpi_##lower##_, parameters, arguments, description)          \
  DDBENCH_BLOCKING(ompi_##lower##_f, parameters, arguments, description)        \
  DDBENCH_NONBLOCKING(mpi_i##lower##_, parameters, arguments, description)      \
  DDBENCH_NONBLOCKING(ompi_i##lower##_f, parameters, arguments, description)    \
  DDBENCH_PERSISTENT(mpi_##lower##_init_, parameters, arguments, description)   \
  DDBENCH_PERSISTENT(ompi_##lower##_init_f, parameters, arguments, description) \
  DDBENCH_PERSISTENT(mpix_##lower##_init_, parameters, arguments, description)  \
  DDBENCH_PERSISTENT(ompix_##lower##_init_f, parameters, arguments, description)
// MPICH's of mpi_f08 without a buffer call PMPI_Barrier; those with one call MPI_Allreduce.
#define DDBENCH_IN_MPICH_F08(L, name, lower, parameters, arguments, description) \
  DDBENCH_BLOCKING(mpi_##lower##_f08_, parameters, arguments, description)       \
  DDBENCH_NONBLOCKING(mpi_i##lower##_f08_, parameters, arguments, description)   \
  DDBENCH_PERSISTENT(mpi_##lower##_init_f08_, parameters, arguments, description)

extern "C" {

DDBENCH_MPI_BARRIER(DDBENCH_IN_FORTRAN, InFortran)
DDBENCH_MPI_BARRIER(DDBENCH_IN_MPICH_F08, InFortran)
DDBENCH_MPI_COLLECTIVES(DDBENCH_IN_FORTRAN, InFortran)

}  // extern "C"

#undef DDBENCH_BLOCKING
#undef DDBENCH_WITH_REQUEST
#undef DDBENCH_NONBLOCKING
#undef DDBENCH_PERSISTENT
#undef DDBENCH_IN_FORTRAN
#undef DDBENCH_IN_MPICH_F08
