// As completion.cpp, in Fortran: everything is an address, requests are ints and indices count from 1. Each
// function stands before those of mpif.h (and of the module mpi) and of the module mpi_f08, in Open MPI's and
// MPICH's form; the latter calls PMPI_Wait, not MPI_Wait.
#include "probes/preload/mpi/around.h"
#include "probes/preload/mpi/communicators.h"
#include "probes/preload/mpi/requests.h"
#include "probes/preload/mpi/uncovered.h"
#include "probes/preload/original.h"

namespace mpi = ddbench::inject::mpi;
using ddbench::inject::original;
using mpi::FortranRequests;
using mpi::Requests;

namespace {

template <typename Original>
void start(const Original& next, int count, int* requests, int* error, auto... arguments) {
  const auto call = [&] {
    int own = mpi::kSuccess;
    int* const result = error != nullptr ? error : &own;  // in mpi_f08 it may be left out
    next(arguments..., result);
    return *result;
  };
  mpi::start(call, Requests(FortranRequests{requests}, count));
}

void forget_communicator(const int* communicator) {
  mpi::forget(mpi::handle_of_fortran(*communicator, "PMPI_Comm_f2c"));
}

}  // namespace

#define DDBENCH_MPIF(name) mpi_##name##_
#define DDBENCH_OPEN_MPI_F08(name) ompi_##name##_f
#define DDBENCH_MPICH_F08(name) mpi_##name##_f08_

#define DDBENCH_IN_FORTRAN(NAME)                                                                       \
  void NAME(start)(int* request, int* error) {                                                         \
    start(original<&NAME(start)>(), 1, request, error, request);                                       \
  }                                                                                                    \
  void NAME(startall)(int* count, int* requests, int* error) {                                         \
    start(original<&NAME(startall)>(), *count, requests, error, count, requests);                      \
  }                                                                                                    \
  void NAME(wait)(int* request, int* status, int* error) {                                             \
    const Requests before(FortranRequests{request}, 1);                                                \
    original<&NAME(wait)>()(request, status, error);                                                   \
    before.complete_all();                                                                             \
  }                                                                                                    \
  void NAME(test)(int* request, int* flag, int* status, int* error) {                                  \
    const Requests before(FortranRequests{request}, 1);                                                \
    original<&NAME(test)>()(request, flag, status, error);                                             \
    if (*flag != 0) before.complete_all();                                                             \
  }                                                                                                    \
  void NAME(request_get_status)(int* request, int* flag, int* status, int* error) {                    \
    const Requests before(FortranRequests{request}, 1);                                                \
    original<&NAME(request_get_status)>()(request, flag, status, error);                               \
    if (*flag != 0) before.complete_all();                                                             \
  }                                                                                                    \
  void NAME(waitall)(int* count, int* requests, int* statuses, int* error) {                           \
    const Requests before(FortranRequests{requests}, *count);                                          \
    original<&NAME(waitall)>()(count, requests, statuses, error);                                      \
    before.complete_all();                                                                             \
  }                                                                                                    \
  void NAME(testall)(int* count, int* requests, int* flag, int* statuses, int* error) {                \
    const Requests before(FortranRequests{requests}, *count);                                          \
    original<&NAME(testall)>()(count, requests, flag, statuses, error);                                \
    if (*flag != 0) before.complete_all();                                                             \
  }                                                                                                    \
  void NAME(waitany)(int* count, int* requests, int* index, int* status, int* error) {                 \
    const Requests before(FortranRequests{requests}, *count);                                          \
    original<&NAME(waitany)>()(count, requests, index, status, error);                                 \
    before.complete(*index - 1);                                                                       \
  }                                                                                                    \
  void NAME(testany)(int* count, int* requests, int* index, int* flag, int* status, int* error) {      \
    const Requests before(FortranRequests{requests}, *count);                                          \
    original<&NAME(testany)>()(count, requests, index, flag, status, error);                           \
    if (*flag != 0) before.complete(*index - 1);                                                       \
  }                                                                                                    \
  void NAME(waitsome)(int* count, int* requests, int* done, int* indices, int* statuses, int* error) { \
    const Requests before(FortranRequests{requests}, *count);                                          \
    original<&NAME(waitsome)>()(count, requests, done, indices, statuses, error);                      \
    for (int i = 0; i < *done; ++i) before.complete(indices[i] - 1);                                   \
  }                                                                                                    \
  void NAME(testsome)(int* count, int* requests, int* done, int* indices, int* statuses, int* error) { \
    const Requests before(FortranRequests{requests}, *count);                                          \
    original<&NAME(testsome)>()(count, requests, done, indices, statuses, error);                      \
    for (int i = 0; i < *done; ++i) before.complete(indices[i] - 1);                                   \
  }                                                                                                    \
  void NAME(request_free)(int* request, int* error) {                                                  \
    Requests(FortranRequests{request}, 1).forget();                                                    \
    original<&NAME(request_free)>()(request, error);                                                   \
  }                                                                                                    \
  void NAME(comm_free)(int* communicator, int* error) {                                                \
    forget_communicator(communicator);                                                                 \
    original<&NAME(comm_free)>()(communicator, error);                                                 \
  }                                                                                                    \
  void NAME(comm_disconnect)(int* communicator, int* error) {                                          \
    forget_communicator(communicator);                                                                 \
    original<&NAME(comm_disconnect)>()(communicator, error);                                           \
  }                                                                                                    \
  void NAME(finalize)(int* error) {                                                                    \
    mpi::report_uncovered();                                                                           \
    original<&NAME(finalize)>()(error);                                                                \
  }

extern "C" {

DDBENCH_IN_FORTRAN(DDBENCH_MPIF)
DDBENCH_IN_FORTRAN(DDBENCH_OPEN_MPI_F08)
DDBENCH_IN_FORTRAN(DDBENCH_MPICH_F08)

}  // extern "C"

#undef DDBENCH_MPIF
#undef DDBENCH_OPEN_MPI_F08
#undef DDBENCH_MPICH_F08
#undef DDBENCH_IN_FORTRAN
