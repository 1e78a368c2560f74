#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// What collectives have in common whose times may be put together, in a table or in a fit: communicators, backends, devices,
/// networks and data types are never pooled.
struct CollectiveWorld {
  std::string function;
  int ranks = 0;             ///< of the communicator; 0: not known
  std::string communicator;  ///< communicator_label(): empty for that of all ranks of the run
  int nodes = 1;  ///< 0: not stated
  int gpus_per_node = 1;
  std::string link;     ///< empty on one node, which uses no link
  std::string network;  ///< as detected
  std::string backend;
  std::string device;
  std::string sku;
  std::string datatype;  ///< precision of the case; for nccl-tests their type, and "in place"
  friend auto operator<=>(const CollectiveWorld&, const CollectiveWorld&) = default;
};

CollectiveWorld collective_world(const store::RunRecord& run, const std::string& function,
                                 const store::CommunicatorRecord& communicator);

/// The same without the field by which runs are compared and the fields that follow from it ("link" and
/// "network"; "nodes", "gpus_per_node" and "world_size").
CollectiveWorld without_field(CollectiveWorld world, const std::string& field);

/// What collectives of one size took in one run. Its buckets of one size are one figure: the geometric mean of their transfer
/// times. They ran under the same conditions, so they are no independent observations as those of several runs are.
struct SizedTransfer {
  CollectiveWorld world;
  std::uint64_t bytes = 0;
  double transfer_ns = 0;
  Measured<double> busbw_gb_per_s = Measured<double>::missing("no bus factor");
};
/// By world, then size. Collectives whose transfer time or bandwidth is not known are left out, and those of one rank.
std::vector<SizedTransfer> sized_transfers(const RunSummary& summary);

/// A label for each: "all_reduce, 2 × 2, 1gbit, ranks 0-1", with those of backend, device, sku, network and data type in
/// which worlds differ that would have the same label.
std::vector<std::string> labels_of_worlds(std::span<const CollectiveWorld> worlds);
/// How each differs from others of the same function and number of ranks: "ranks 0-1, gloo"; empty if nothing
/// differs.
std::vector<std::string> variants_of_worlds(std::span<const CollectiveWorld> worlds);

}  // namespace ddbench::analyzer
