#include "probes/preload/mpi/neighbors.h"

#include "probes/preload/mpi/communicators.h"
#include "probes/preload/original.h"

namespace ddbench::inject::mpi {
namespace {

using Shift = int(Handle, int, int, int*, int*);
using CountOfRank = int(Handle, int, int*);
using DistributedCounts = int(Handle, int*, int*, int*);

enum class Topology { kGrid, kGraph, kDistributedGraph, kNone };

Topology topology_of(Handle communicator) {
  static Question* const test = find_question("PMPI_Topo_test");
  const int type = asked(test, communicator);
  if (type == 3) return Topology::kDistributedGraph;
  const bool is_open_mpi = library().abi == Abi::kAddresses;
  if (type == (is_open_mpi ? 1 : 2)) return Topology::kGrid;
  if (type == (is_open_mpi ? 2 : 1)) return Topology::kGraph;
  return Topology::kNone;
}

std::vector<bool> neighbors_in_grid(Handle communicator) {
  static Question* const dimensions = find_question("PMPI_Cartdim_get");
  static auto* const shift = reinterpret_cast<Shift*>(find_function("PMPI_Cart_shift"));
  std::vector<bool> exist;
  for (int dimension = 0; dimension < asked(dimensions, communicator); ++dimension) {
    int before = 0;
    int after = 0;
    shift(communicator, dimension, 1, &before, &after);
    exist.push_back(before >= 0);  // MPI_PROC_NULL is below 0 in every MPI
    exist.push_back(after >= 0);
  }
  return exist;
}

std::vector<bool> neighbors_in_graph(Handle communicator) {
  int count = 0;
  reinterpret_cast<CountOfRank*>(find_function("PMPI_Graph_neighbors_count"))(
      communicator, asked(find_question("PMPI_Comm_rank"), communicator), &count);
  return std::vector<bool>(static_cast<std::size_t>(count), true);
}

std::vector<bool> sources_in_distributed_graph(Handle communicator) {
  int sources = 0;
  int destinations = 0;
  int is_weighted = 0;
  reinterpret_cast<DistributedCounts*>(find_function("PMPI_Dist_graph_neighbors_count"))(
      communicator, &sources, &destinations, &is_weighted);
  return std::vector<bool>(static_cast<std::size_t>(sources), true);
}

}  // namespace

std::vector<bool> neighbors_that_send(Handle communicator) {
  switch (topology_of(communicator)) {
    case Topology::kGrid: return neighbors_in_grid(communicator);
    case Topology::kGraph: return neighbors_in_graph(communicator);
    case Topology::kDistributedGraph: return sources_in_distributed_graph(communicator);
    case Topology::kNone: break;
  }
  return {};
}

}  // namespace ddbench::inject::mpi
