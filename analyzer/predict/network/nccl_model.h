#pragma once

#include <string>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/extrapolate/size_law.h"
#include "core/measured.h"

namespace ddbench::analyzer {

/// GPUs whose constants NCCL's tuning model has.
enum class NcclGpu { kVolta, kAmpere, kHopper, kBlackwell };

/// Nodes as NCCL's tuning model sees them. Rates in GB/s (1e9 bytes).
struct NcclNode {
  NcclGpu gpu = NcclGpu::kAmpere;
  bool nvlink = true;
  double intra_gb_per_s = 0;  ///< of a ring through the GPUs of a node
  double inter_gb_per_s = 0;  ///< of all NICs of a node, each direction; 0: no network between nodes is known
  int channels = 0;           ///< parallel rings; limits the bandwidth of LL and LL128
};

/// The nodes of a SKU: NVLinks of its GPU or PCIe inside a node, and its RDMA fabric, else sockets, between
/// nodes. Missing, with the reason, if the catalogue does not state GPU or link.
Measured<NcclNode> nccl_node(const Sku& sku);

/// kTree: a chain inside of each node and a tree between nodes; all_reduce over several nodes only, else the ring.
enum class NcclAlgorithm { kFastest, kRing, kTree };

/// The time of a collective according to NCCL's own tuning model: the fastest of ring and tree (or the
/// requested one) with the protocols LL, LL128 and Simple. `bytes` as nccl-tests count them. The constants
/// and formulas are those of NVIDIA/nccl src/graph/tuning.cc, 2.30.7: time = latency + bytes over the
/// algorithm's bandwidth. It uses two figures of a machine, not its topology: compared with published
/// all_reduces of 2 to 8 A100 it is 4 to 35% too fast from 16 MiB on
/// (tests/unit/analyzer/predict/network/nccl_model_test.cpp). all_to_all, push and pull have no algorithm there:
/// they are taken as direct sends, which share the NICs of a node (collective_terms()). Missing if there are several
/// nodes without a known network.
Measured<double> nccl_model_ns(const NcclNode& node, const std::string& function, double bytes, const ClusterShape& shape,
                               NcclAlgorithm algorithm = NcclAlgorithm::kFastest);

/// Standard deviation that predictions assume for such a time.
inline constexpr double kNcclModelError = 0.25;

}  // namespace ddbench::analyzer
