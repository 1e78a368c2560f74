#include "probes/preload/mpi_collectives.h"

#include <numeric>

#include "probes/preload/mpi_communicators.h"
#include "probes/preload/original.h"

namespace ddbench::inject::mpi {
namespace {

std::uint64_t bytes_of(std::int64_t count, Handle type) {
  static Question* const size = find_question("PMPI_Type_size");
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(asked(size, type));
}

std::int64_t sum(const int* counts, Handle communicator) {
  return std::accumulate(counts, counts + size_of(communicator), std::int64_t{0});
}

/// At the root only the root's side of the arguments has a meaning, on other ranks the other side.
std::uint64_t bytes_of_all(Part here, Part at_root, int root, Handle communicator) {
  if (is_between_groups(communicator)) return 0;  // which side has a meaning depends on the group
  static Question* const rank = find_question("PMPI_Comm_rank");
  const Part part = asked(rank, communicator) == root ? at_root : here;
  return bytes_of(part.count * size_of(communicator), part.type);
}

}  // namespace

Collective all_reduce(int count, Handle type, Handle communicator) {
  return {CallName::kAllReduce, bytes_of(count, type), key_of_next(communicator)};
}

Collective reduce(int count, Handle type, Handle communicator) {
  return {CallName::kReduce, bytes_of(count, type), key_of_next(communicator)};
}

Collective broadcast(int count, Handle type, Handle communicator) {
  return {CallName::kBroadcast, bytes_of(count, type), key_of_next(communicator)};
}

Collective barrier(Handle communicator) {
  return {CallName::kBarrier, 0, key_of_next(communicator)};
}

Collective all_gather(int count, Handle type, Handle communicator) {
  return {CallName::kAllGather, bytes_of(count * size_of(communicator), type), key_of_next(communicator)};
}

Collective all_gather(const int* counts, Handle type, Handle communicator) {
  return {CallName::kAllGather, bytes_of(sum(counts, communicator), type), key_of_next(communicator)};
}

Collective reduce_scatter(int count, Handle type, Handle communicator) {
  return {CallName::kReduceScatter, bytes_of(count * size_of(communicator), type), key_of_next(communicator)};
}

Collective reduce_scatter(const int* counts, Handle type, Handle communicator) {
  return {CallName::kReduceScatter, bytes_of(sum(counts, communicator), type), key_of_next(communicator)};
}

Collective all_to_all(int count, Handle type, Handle communicator) {
  return {CallName::kAllToAll, bytes_of(count * size_of(communicator), type), key_of_next(communicator)};
}

Collective all_to_all(const int* counts, Handle type, Handle communicator) {
  return {CallName::kAllToAll, bytes_of(sum(counts, communicator), type), key_of_next(communicator)};
}

Collective gather(Part here, Part at_root, int root, Handle communicator) {
  return {CallName::kGather, bytes_of_all(here, at_root, root, communicator), key_of_next(communicator)};
}

Collective scatter(Part here, Part at_root, int root, Handle communicator) {
  return {CallName::kScatter, bytes_of_all(here, at_root, root, communicator), key_of_next(communicator)};
}

}  // namespace ddbench::inject::mpi
