// Stands before the functions in which a program sees that something which it began is complete, and before those that free
// a communicator.
#include "probes/preload/mpi_communicators.h"
#include "probes/preload/mpi_requests.h"
#include "probes/preload/original.h"

namespace mpi = ddbench::inject::mpi;
using ddbench::inject::original;
using mpi::Requests;

extern "C" {

int MPI_Wait(void* request, void* status) {
  const Requests before(request, 1);
  const int result = original<&MPI_Wait>()(request, status);
  before.complete_all();
  return result;
}

int MPI_Test(void* request, int* flag, void* status) {
  const Requests before(request, 1);
  const int result = original<&MPI_Test>()(request, flag, status);
  if (*flag != 0) before.complete_all();
  return result;
}

int MPI_Waitall(int count, void* requests, void* statuses) {
  const Requests before(requests, count);
  const int result = original<&MPI_Waitall>()(count, requests, statuses);
  before.complete_all();
  return result;
}

int MPI_Testall(int count, void* requests, int* flag, void* statuses) {
  const Requests before(requests, count);
  const int result = original<&MPI_Testall>()(count, requests, flag, statuses);
  if (*flag != 0) before.complete_all();
  return result;
}

int MPI_Waitany(int count, void* requests, int* index, void* status) {
  const Requests before(requests, count);
  const int result = original<&MPI_Waitany>()(count, requests, index, status);
  before.complete(*index);
  return result;
}

int MPI_Testany(int count, void* requests, int* index, int* flag, void* status) {
  const Requests before(requests, count);
  const int result = original<&MPI_Testany>()(count, requests, index, flag, status);
  if (*flag != 0) before.complete(*index);
  return result;
}

int MPI_Waitsome(int count, void* requests, int* done, int* indices, void* statuses) {
  const Requests before(requests, count);
  const int result = original<&MPI_Waitsome>()(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) before.complete(indices[i]);
  return result;
}

int MPI_Testsome(int count, void* requests, int* done, int* indices, void* statuses) {
  const Requests before(requests, count);
  const int result = original<&MPI_Testsome>()(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) before.complete(indices[i]);
  return result;
}

int MPI_Request_free(void* request) {
  Requests(request, 1).forget();
  return original<&MPI_Request_free>()(request);
}

int MPI_Comm_free(mpi::Handle* communicator) {
  if (communicator != nullptr) mpi::forget(*communicator);
  return original<&MPI_Comm_free>()(communicator);
}

int MPI_Comm_disconnect(mpi::Handle* communicator) {
  if (communicator != nullptr) mpi::forget(*communicator);
  return original<&MPI_Comm_disconnect>()(communicator);
}

}  // extern "C"
