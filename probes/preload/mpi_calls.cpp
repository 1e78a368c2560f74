// Stands before the blocking collectives of MPI, as its profiling interface intends.
#include "probes/preload/mpi_collectives.h"
#include "probes/preload/original.h"

namespace mpi = ddbench::inject::mpi;
using ddbench::inject::Call;
using ddbench::inject::original;
using mpi::Handle;

extern "C" {

int MPI_Allreduce(const void* send, void* receive, int count, Handle type, Handle operation,
                  Handle communicator) {
  const Call call(mpi::all_reduce(count, type, communicator));
  return original<&MPI_Allreduce>()(send, receive, count, type, operation, communicator);
}

int MPI_Reduce(const void* send, void* receive, int count, Handle type, Handle operation, int root,
               Handle communicator) {
  const Call call(mpi::reduce(count, type, communicator));
  return original<&MPI_Reduce>()(send, receive, count, type, operation, root, communicator);
}

int MPI_Bcast(void* buffer, int count, Handle type, int root, Handle communicator) {
  const Call call(mpi::broadcast(count, type, communicator));
  return original<&MPI_Bcast>()(buffer, count, type, root, communicator);
}

int MPI_Barrier(Handle communicator) {
  const Call call(mpi::barrier(communicator));
  return original<&MPI_Barrier>()(communicator);
}

int MPI_Allgather(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                  Handle communicator) {
  const Call call(mpi::all_gather(count, type, communicator));
  return original<&MPI_Allgather>()(send, send_count, send_type, receive, count, type, communicator);
}

int MPI_Allgatherv(const void* send, int send_count, Handle send_type, void* receive, const int* counts,
                   const int* displacements, Handle type, Handle communicator) {
  const Call call(mpi::all_gather(counts, type, communicator));
  return original<&MPI_Allgatherv>()(send, send_count, send_type, receive, counts, displacements, type,
                                     communicator);
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, Handle type, Handle operation,
                             Handle communicator) {
  const Call call(mpi::reduce_scatter(count, type, communicator));
  return original<&MPI_Reduce_scatter_block>()(send, receive, count, type, operation, communicator);
}

int MPI_Reduce_scatter(const void* send, void* receive, const int* counts, Handle type, Handle operation,
                       Handle communicator) {
  const Call call(mpi::reduce_scatter(counts, type, communicator));
  return original<&MPI_Reduce_scatter>()(send, receive, counts, type, operation, communicator);
}

int MPI_Gather(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
               int root, Handle communicator) {
  const Call call(mpi::gather({send_count, send_type}, {count, type}, root, communicator));
  return original<&MPI_Gather>()(send, send_count, send_type, receive, count, type, root, communicator);
}

int MPI_Scatter(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                int root, Handle communicator) {
  const Call call(mpi::scatter({count, type}, {send_count, send_type}, root, communicator));
  return original<&MPI_Scatter>()(send, send_count, send_type, receive, count, type, root, communicator);
}

int MPI_Alltoall(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                 Handle communicator) {
  const Call call(mpi::all_to_all(count, type, communicator));
  return original<&MPI_Alltoall>()(send, send_count, send_type, receive, count, type, communicator);
}

int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_displacements, Handle send_type,
                  void* receive, const int* counts, const int* displacements, Handle type,
                  Handle communicator) {
  const Call call(mpi::all_to_all(counts, type, communicator));
  return original<&MPI_Alltoallv>()(send, send_counts, send_displacements, send_type, receive, counts,
                                    displacements, type, communicator);
}

}  // extern "C"
