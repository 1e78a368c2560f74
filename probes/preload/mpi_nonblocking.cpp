// Stands before the nonblocking collectives of MPI: each lasts from its call until the program sees that it
// is complete (mpi_completion.cpp).
#include "probes/preload/mpi_collectives.h"
#include "probes/preload/mpi_requests.h"
#include "probes/preload/original.h"

namespace mpi = ddbench::inject::mpi;
using ddbench::inject::original;
using ddbench::inject::PendingCall;
using mpi::Handle;

extern "C" {

int MPI_Iallreduce(const void* send, void* receive, int count, Handle type, Handle operation,
                   Handle communicator, void* request) {
  const PendingCall call(mpi::all_reduce(count, type, communicator));
  const int status =
      original<&MPI_Iallreduce>()(send, receive, count, type, operation, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Ireduce(const void* send, void* receive, int count, Handle type, Handle operation, int root,
                Handle communicator, void* request) {
  const PendingCall call(mpi::reduce(count, type, communicator));
  const int status =
      original<&MPI_Ireduce>()(send, receive, count, type, operation, root, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Ibcast(void* buffer, int count, Handle type, int root, Handle communicator, void* request) {
  const PendingCall call(mpi::broadcast(count, type, communicator));
  const int status = original<&MPI_Ibcast>()(buffer, count, type, root, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Ibarrier(Handle communicator, void* request) {
  const PendingCall call(mpi::barrier(communicator));
  const int status = original<&MPI_Ibarrier>()(communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Iallgather(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                   Handle communicator, void* request) {
  const PendingCall call(mpi::all_gather(count, type, communicator));
  const int status =
      original<&MPI_Iallgather>()(send, send_count, send_type, receive, count, type, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Iallgatherv(const void* send, int send_count, Handle send_type, void* receive, const int* counts,
                    const int* displacements, Handle type, Handle communicator, void* request) {
  const PendingCall call(mpi::all_gather(counts, type, communicator));
  const int status = original<&MPI_Iallgatherv>()(send, send_count, send_type, receive, counts, displacements,
                                                  type, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Ireduce_scatter_block(const void* send, void* receive, int count, Handle type, Handle operation,
                              Handle communicator, void* request) {
  const PendingCall call(mpi::reduce_scatter(count, type, communicator));
  const int status =
      original<&MPI_Ireduce_scatter_block>()(send, receive, count, type, operation, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Ireduce_scatter(const void* send, void* receive, const int* counts, Handle type, Handle operation,
                        Handle communicator, void* request) {
  const PendingCall call(mpi::reduce_scatter(counts, type, communicator));
  const int status =
      original<&MPI_Ireduce_scatter>()(send, receive, counts, type, operation, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Igather(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                int root, Handle communicator, void* request) {
  const PendingCall call(mpi::gather({send_count, send_type}, {count, type}, root, communicator));
  const int status = original<&MPI_Igather>()(send, send_count, send_type, receive, count, type, root,
                                              communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Iscatter(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                 int root, Handle communicator, void* request) {
  const PendingCall call(mpi::scatter({count, type}, {send_count, send_type}, root, communicator));
  const int status = original<&MPI_Iscatter>()(send, send_count, send_type, receive, count, type, root,
                                               communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Ialltoall(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                  Handle communicator, void* request) {
  const PendingCall call(mpi::all_to_all(count, type, communicator));
  const int status =
      original<&MPI_Ialltoall>()(send, send_count, send_type, receive, count, type, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

int MPI_Ialltoallv(const void* send, const int* send_counts, const int* send_displacements, Handle send_type,
                   void* receive, const int* counts, const int* displacements, Handle type,
                   Handle communicator, void* request) {
  const PendingCall call(mpi::all_to_all(counts, type, communicator));
  const int status = original<&MPI_Ialltoallv>()(send, send_counts, send_displacements, send_type, receive,
                                                 counts, displacements, type, communicator, request);
  if (status == mpi::kSuccess) mpi::begin(request, call);
  return status;
}

}  // extern "C"
