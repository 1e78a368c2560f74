#include "probes/preload/mpi_collectives.h"

#include <map>
#include <mutex>
#include <numeric>

#include "probes/preload/original.h"

namespace ddbench::inject::mpi {
namespace {

using Question = int(Handle, int*);

// The program's MPI is one, and does not go away.
Question* find_question(const char* function) {
  return reinterpret_cast<Question*>(find_function(function));
}

int asked(Question* question, Handle about) {
  int answer = 0;
  question(about, &answer);
  return answer;
}

std::uint64_t bytes_of(std::int64_t count, Handle type) {
  static Question* const size = find_question("PMPI_Type_size");
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(asked(size, type));
}

/// Between two groups of ranks, what a rank gives or takes is counted by the other group.
bool is_between_groups(Handle communicator) {
  static Question* const test = find_question("PMPI_Comm_test_inter");
  return asked(test, communicator) != 0;
}

std::int64_t size_of(Handle communicator) {
  static Question* const own = find_question("PMPI_Comm_size");
  static Question* const others = find_question("PMPI_Comm_remote_size");
  return asked(is_between_groups(communicator) ? others : own, communicator);
}

std::int64_t sum(const int* counts, Handle communicator) {
  return std::accumulate(counts, counts + size_of(communicator), std::int64_t{0});
}

/// At the root the side that it must give has a meaning, elsewhere the other one.
std::uint64_t bytes_of_all(Part here, Part at_root, int root, Handle communicator) {
  if (is_between_groups(communicator)) return 0;  // which side has a meaning depends on the group
  static Question* const rank = find_question("PMPI_Comm_rank");
  const Part part = asked(rank, communicator) == root ? at_root : here;
  return bytes_of(part.count * size_of(communicator), part.type);
}

// MPI asks that all ranks of a communicator call its collectives in one order, the nonblocking ones among
// them: the n-th is the same on each.
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
  return collective_key(uses.communicator, ++uses.count);
}

}  // namespace

Collective all_reduce(int count, Handle type, Handle communicator) {
  return {CallName::kAllReduce, bytes_of(count, type), next_key(communicator)};
}

Collective reduce(int count, Handle type, Handle communicator) {
  return {CallName::kReduce, bytes_of(count, type), next_key(communicator)};
}

Collective broadcast(int count, Handle type, Handle communicator) {
  return {CallName::kBroadcast, bytes_of(count, type), next_key(communicator)};
}

Collective barrier(Handle communicator) {
  return {CallName::kBarrier, 0, next_key(communicator)};
}

Collective all_gather(int count, Handle type, Handle communicator) {
  return {CallName::kAllGather, bytes_of(count * size_of(communicator), type), next_key(communicator)};
}

Collective all_gather(const int* counts, Handle type, Handle communicator) {
  return {CallName::kAllGather, bytes_of(sum(counts, communicator), type), next_key(communicator)};
}

Collective reduce_scatter(int count, Handle type, Handle communicator) {
  return {CallName::kReduceScatter, bytes_of(count * size_of(communicator), type), next_key(communicator)};
}

Collective reduce_scatter(const int* counts, Handle type, Handle communicator) {
  return {CallName::kReduceScatter, bytes_of(sum(counts, communicator), type), next_key(communicator)};
}

Collective all_to_all(int count, Handle type, Handle communicator) {
  return {CallName::kAllToAll, bytes_of(count * size_of(communicator), type), next_key(communicator)};
}

Collective all_to_all(const int* counts, Handle type, Handle communicator) {
  return {CallName::kAllToAll, bytes_of(sum(counts, communicator), type), next_key(communicator)};
}

Collective gather(Part here, Part at_root, int root, Handle communicator) {
  return {CallName::kGather, bytes_of_all(here, at_root, root, communicator), next_key(communicator)};
}

Collective scatter(Part here, Part at_root, int root, Handle communicator) {
  return {CallName::kScatter, bytes_of_all(here, at_root, root, communicator), next_key(communicator)};
}

}  // namespace ddbench::inject::mpi
