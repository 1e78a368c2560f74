// Stands before the blocking collectives of MPI, as its profiling interface intends. Declared here and not by
// mpi.h: a communicator or a datatype is an address in Open MPI and a number in MPICH, and either is passed
// on as the word that it is, so that one build serves both.
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>

#include "original.h"
#include "session.h"

namespace {

using ddbench::inject::Call;
using ddbench::inject::CallName;
using ddbench::inject::original;

struct OpaqueHandle;
using Handle = OpaqueHandle*;
using Question = int(Handle, int*);

constexpr auto kMpi = {"libmpi.so.40", "libmpi.so.80", "libmpi.so.12", "libmpich.so.12"};

int asked(const char* function, Handle about) {
  int answer = 0;
  reinterpret_cast<Question*>(ddbench::inject::find_function(function, kMpi))(about, &answer);
  return answer;
}

std::uint64_t bytes_of(std::int64_t count, Handle type) {
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(asked("PMPI_Type_size", type));
}

/// Between two groups of ranks, what a rank gives or takes is counted by the other group.
bool is_between_groups(Handle communicator) {
  return asked("PMPI_Comm_test_inter", communicator) != 0;
}

std::int64_t size_of(Handle communicator) {
  return asked(is_between_groups(communicator) ? "PMPI_Comm_remote_size" : "PMPI_Comm_size", communicator);
}

/// Of arguments, those that MPI_IN_PLACE leaves without meaning (they may be null) are never read: at the
/// root the side that it must give is, elsewhere the other one.
bool is_root(int root, Handle communicator) {
  return asked("PMPI_Comm_rank", communicator) == root;
}

std::int64_t sum(const int* counts, Handle communicator) {
  return std::accumulate(counts, counts + size_of(communicator), std::int64_t{0});
}

/// Of a gather or scatter over its whole communicator. `here` is a rank's own part, `at_root` each part at
/// the root.
struct Part {
  int count = 0;
  Handle type = nullptr;
};
std::uint64_t bytes_of_all(Part here, Part at_root, int root, Handle communicator) {
  if (is_between_groups(communicator)) return 0;  // which side has a meaning depends on the group
  const Part part = is_root(root, communicator) ? at_root : here;
  return bytes_of(part.count * size_of(communicator), part.type);
}

// MPI asks that all ranks of a communicator call its collectives in one order: the n-th is the same on each.
std::uint64_t next_key(Handle communicator) {
  struct Uses {
    std::uint16_t communicator = 0;
    std::uint64_t count = 0;
  };
  static std::mutex mutex;
  static std::map<Handle, Uses> communicators;
  const std::lock_guard lock(mutex);
  Uses& uses = communicators[communicator];
  if (uses.communicator == 0) uses.communicator = static_cast<std::uint16_t>(communicators.size());
  return ddbench::collective_key(uses.communicator, ++uses.count);
}

}  // namespace

extern "C" {

int MPI_Allreduce(const void* send, void* receive, int count, Handle type, Handle operation,
                  Handle communicator) {
  const Call call(CallName::kAllReduce, bytes_of(count, type), next_key(communicator));
  return original<&MPI_Allreduce>(kMpi)(send, receive, count, type, operation, communicator);
}

int MPI_Reduce(const void* send, void* receive, int count, Handle type, Handle operation, int root,
               Handle communicator) {
  const Call call(CallName::kReduce, bytes_of(count, type), next_key(communicator));
  return original<&MPI_Reduce>(kMpi)(send, receive, count, type, operation, root, communicator);
}

int MPI_Bcast(void* buffer, int count, Handle type, int root, Handle communicator) {
  const Call call(CallName::kBroadcast, bytes_of(count, type), next_key(communicator));
  return original<&MPI_Bcast>(kMpi)(buffer, count, type, root, communicator);
}

int MPI_Barrier(Handle communicator) {
  const Call call(CallName::kBarrier, 0, next_key(communicator));
  return original<&MPI_Barrier>(kMpi)(communicator);
}

int MPI_Allgather(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                  Handle communicator) {
  const Call call(CallName::kAllGather, bytes_of(count * size_of(communicator), type),
                  next_key(communicator));
  return original<&MPI_Allgather>(kMpi)(send, send_count, send_type, receive, count, type, communicator);
}

int MPI_Allgatherv(const void* send, int send_count, Handle send_type, void* receive, const int* counts,
                   const int* displacements, Handle type, Handle communicator) {
  const Call call(CallName::kAllGather, bytes_of(sum(counts, communicator), type), next_key(communicator));
  return original<&MPI_Allgatherv>(kMpi)(send, send_count, send_type, receive, counts, displacements, type,
                                         communicator);
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, Handle type, Handle operation,
                             Handle communicator) {
  const Call call(CallName::kReduceScatter, bytes_of(count * size_of(communicator), type),
                  next_key(communicator));
  return original<&MPI_Reduce_scatter_block>(kMpi)(send, receive, count, type, operation, communicator);
}

int MPI_Reduce_scatter(const void* send, void* receive, const int* counts, Handle type, Handle operation,
                       Handle communicator) {
  const Call call(CallName::kReduceScatter, bytes_of(sum(counts, communicator), type),
                  next_key(communicator));
  return original<&MPI_Reduce_scatter>(kMpi)(send, receive, counts, type, operation, communicator);
}

int MPI_Gather(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
               int root, Handle communicator) {
  const Call call(CallName::kGather, bytes_of_all({send_count, send_type}, {count, type}, root, communicator),
                  next_key(communicator));
  return original<&MPI_Gather>(kMpi)(send, send_count, send_type, receive, count, type, root, communicator);
}

int MPI_Scatter(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                int root, Handle communicator) {
  const Call call(CallName::kScatter,
                  bytes_of_all({count, type}, {send_count, send_type}, root, communicator),
                  next_key(communicator));
  return original<&MPI_Scatter>(kMpi)(send, send_count, send_type, receive, count, type, root, communicator);
}

int MPI_Alltoall(const void* send, int send_count, Handle send_type, void* receive, int count, Handle type,
                 Handle communicator) {
  const Call call(CallName::kAllToAll, bytes_of(count * size_of(communicator), type), next_key(communicator));
  return original<&MPI_Alltoall>(kMpi)(send, send_count, send_type, receive, count, type, communicator);
}

int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_displacements, Handle send_type,
                  void* receive, const int* counts, const int* displacements, Handle type,
                  Handle communicator) {
  const Call call(CallName::kAllToAll, bytes_of(sum(counts, communicator), type), next_key(communicator));
  return original<&MPI_Alltoallv>(kMpi)(send, send_counts, send_displacements, send_type, receive, counts,
                                        displacements, type, communicator);
}

}  // extern "C"
