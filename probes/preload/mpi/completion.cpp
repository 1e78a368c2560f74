// Stands before the functions of MPI in C in which a program starts what it initialised, or sees that
// something which it began is complete, and before those that free a communicator.
#include "probes/preload/mpi/around.h"
#include "probes/preload/mpi/communicators.h"
#include "probes/preload/mpi/requests.h"
#include "probes/preload/mpi/uncovered.h"
#include "probes/preload/original.h"

namespace mpi = ddbench::inject::mpi;
using ddbench::inject::original;
using mpi::CRequests;
using mpi::Requests;

extern "C" {

int MPI_Start(void* request) {
  const auto next = original<&MPI_Start>();
  return mpi::start([&] { return next(request); }, Requests(CRequests{request}, 1));
}

int MPI_Startall(int count, void* requests) {
  const auto next = original<&MPI_Startall>();
  return mpi::start([&] { return next(count, requests); }, Requests(CRequests{requests}, count));
}

int MPI_Wait(void* request, void* status) {
  const Requests before(CRequests{request}, 1);
  const int result = original<&MPI_Wait>()(request, status);
  before.complete_all();
  return result;
}

int MPI_Test(void* request, int* flag, void* status) {
  const Requests before(CRequests{request}, 1);
  const int result = original<&MPI_Test>()(request, flag, status);
  if (*flag != 0) before.complete_all();
  return result;
}

int MPI_Request_get_status(mpi::Handle request, int* flag, void* status) {
  const Requests before(request);
  const int result = original<&MPI_Request_get_status>()(request, flag, status);
  if (*flag != 0) before.complete_all();
  return result;
}

int MPI_Waitall(int count, void* requests, void* statuses) {
  const Requests before(CRequests{requests}, count);
  const int result = original<&MPI_Waitall>()(count, requests, statuses);
  before.complete_all();
  return result;
}

int MPI_Testall(int count, void* requests, int* flag, void* statuses) {
  const Requests before(CRequests{requests}, count);
  const int result = original<&MPI_Testall>()(count, requests, flag, statuses);
  if (*flag != 0) before.complete_all();
  return result;
}

int MPI_Waitany(int count, void* requests, int* index, void* status) {
  const Requests before(CRequests{requests}, count);
  const int result = original<&MPI_Waitany>()(count, requests, index, status);
  before.complete(*index);
  return result;
}

int MPI_Testany(int count, void* requests, int* index, int* flag, void* status) {
  const Requests before(CRequests{requests}, count);
  const int result = original<&MPI_Testany>()(count, requests, index, flag, status);
  if (*flag != 0) before.complete(*index);
  return result;
}

int MPI_Waitsome(int count, void* requests, int* done, int* indices, void* statuses) {
  const Requests before(CRequests{requests}, count);
  const int result = original<&MPI_Waitsome>()(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) before.complete(indices[i]);
  return result;
}

int MPI_Testsome(int count, void* requests, int* done, int* indices, void* statuses) {
  const Requests before(CRequests{requests}, count);
  const int result = original<&MPI_Testsome>()(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) before.complete(indices[i]);
  return result;
}

int MPI_Request_free(void* request) {
  Requests(CRequests{request}, 1).forget();
  return original<&MPI_Request_free>()(request);
}

int MPI_Comm_free(mpi::Handle* communicator) {
  if (communicator != nullptr) mpi::forget(mpi::handle_at(communicator, 0));
  return original<&MPI_Comm_free>()(communicator);
}

int MPI_Comm_disconnect(mpi::Handle* communicator) {
  if (communicator != nullptr) mpi::forget(mpi::handle_at(communicator, 0));
  return original<&MPI_Comm_disconnect>()(communicator);
}

int MPI_Finalize() {
  mpi::report_uncovered();
  return original<&MPI_Finalize>()();
}

}  // extern "C"
