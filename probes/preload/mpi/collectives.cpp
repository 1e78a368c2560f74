#include "probes/preload/mpi/collectives.h"

#include <vector>

#include "probes/preload/mpi/communicators.h"
#include "probes/preload/mpi/neighbors.h"

namespace ddbench::inject::mpi {
namespace {

std::uint64_t bytes_of(std::int64_t count, Handle type) {
  static Question* const size = find_question("PMPI_Type_size");
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(asked(size, type));
}

std::int64_t sum(Counts counts, Handle communicator) {
  std::int64_t all = 0;
  for (int rank = 0; rank < size_of(communicator); ++rank) all += counts.at(rank);
  return all;
}

bool is_root(int root, Handle communicator) {
  static Question* const rank = find_question("PMPI_Comm_rank");
  return asked(rank, communicator) == root;
}

/// At the root only the root's side of the arguments has a meaning, on other ranks the other side.
std::uint64_t bytes_of_all(Part here, Part at_root, int root, Handle communicator) {
  if (is_between_groups(communicator)) return 0;  // which side has a meaning depends on the group
  const Part part = is_root(root, communicator) ? at_root : here;
  return bytes_of(part.count * size_of(communicator), part.type);
}

std::uint64_t bytes_of_all(Part here, Parts at_root, int root, Handle communicator) {
  if (is_between_groups(communicator)) return 0;
  if (is_root(root, communicator)) return bytes_of(sum(at_root.counts, communicator), at_root.type);
  return bytes_of(here.count, here.type);
}

std::int64_t sum_of_neighbors(Counts counts, Handle communicator) {
  std::int64_t all = 0;
  const std::vector<bool> sources = neighbors_that_send(communicator);
  for (std::size_t i = 0; i < sources.size(); ++i) all += sources[i] ? counts.at(static_cast<int>(i)) : 0;
  return all;
}

std::int64_t count_neighbors(Handle communicator) {
  std::int64_t all = 0;
  for (const bool exists : neighbors_that_send(communicator)) all += exists;
  return all;
}

}  // namespace

Described all_reduce(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kAllReduce, bytes_of(count, type), communicator};
}

Described reduce(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kReduce, bytes_of(count, type), communicator};
}

Described scan(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kScan, bytes_of(count, type), communicator};
}

Described broadcast(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kBroadcast, bytes_of(count, type), communicator};
}

Described barrier(Handle communicator) {
  return {CallName::kBarrier, 0, communicator};
}

Described all_gather(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kAllGather, bytes_of(count * size_of(communicator), type), communicator};
}

Described all_gather_v(Counts counts, Handle type, Handle communicator) {
  return {CallName::kAllGather, bytes_of(sum(counts, communicator), type), communicator};
}

Described reduce_scatter(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kReduceScatter, bytes_of(count * size_of(communicator), type), communicator};
}

Described reduce_scatter_v(Counts counts, Handle type, Handle communicator) {
  return {CallName::kReduceScatter, bytes_of(sum(counts, communicator), type), communicator};
}

Described all_to_all(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kAllToAll, bytes_of(count * size_of(communicator), type), communicator};
}

Described all_to_all_v(Counts counts, Handle type, Handle communicator) {
  return {CallName::kAllToAll, bytes_of(sum(counts, communicator), type), communicator};
}

Described all_to_all_w(Counts counts, Types types, Handle communicator) {
  std::uint64_t bytes = 0;
  for (int rank = 0; rank < size_of(communicator); ++rank) {
    if (counts.at(rank) != 0) bytes += bytes_of(counts.at(rank), types.at(rank));
  }
  return {CallName::kAllToAll, bytes, communicator};
}

Described gather(Part here, Part at_root, int root, Handle communicator) {
  return {CallName::kGather, bytes_of_all(here, at_root, root, communicator), communicator};
}

Described scatter(Part here, Part at_root, int root, Handle communicator) {
  return {CallName::kScatter, bytes_of_all(here, at_root, root, communicator), communicator};
}

Described gather_v(Part here, Parts at_root, int root, Handle communicator) {
  return {CallName::kGather, bytes_of_all(here, at_root, root, communicator), communicator};
}

Described scatter_v(Part here, Parts at_root, int root, Handle communicator) {
  return {CallName::kScatter, bytes_of_all(here, at_root, root, communicator), communicator};
}

Described neighbor_all_gather(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kNeighborAllGather, bytes_of(count * count_neighbors(communicator), type), communicator};
}

Described neighbor_all_gather_v(Counts counts, Handle type, Handle communicator) {
  return {CallName::kNeighborAllGather, bytes_of(sum_of_neighbors(counts, communicator), type), communicator};
}

Described neighbor_all_to_all(std::int64_t count, Handle type, Handle communicator) {
  return {CallName::kNeighborAllToAll, bytes_of(count * count_neighbors(communicator), type), communicator};
}

Described neighbor_all_to_all_v(Counts counts, Handle type, Handle communicator) {
  return {CallName::kNeighborAllToAll, bytes_of(sum_of_neighbors(counts, communicator), type), communicator};
}

Described neighbor_all_to_all_w(Counts counts, Types types, Handle communicator) {
  std::uint64_t bytes = 0;
  const std::vector<bool> sources = neighbors_that_send(communicator);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const int index = static_cast<int>(i);
    if (sources[i] && counts.at(index) != 0) bytes += bytes_of(counts.at(index), types.at(index));
  }
  return {CallName::kNeighborAllToAll, bytes, communicator};
}

}  // namespace ddbench::inject::mpi
