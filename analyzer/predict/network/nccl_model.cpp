#include "analyzer/predict/network/nccl_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analyzer/predict/network/collective_terms.h"

namespace ddbench::analyzer {
namespace {

// Index: LL, LL128, Simple. Latencies in us, rates in GB/s. NVIDIA/nccl src/graph/tuning.cc and topo.h, 2.30.7.
using ByProtocol = std::array<double, 3>;
constexpr std::size_t kProtocols = 3;
constexpr ByProtocol kTreeBase = {6.8, 14.0, 8.4};
constexpr ByProtocol kRingBase = {6.6, 14.0, 8.4};
constexpr ByProtocol kTreeNvlink = {0.6, 1.25, 4.0};
constexpr ByProtocol kRingNvlink = {0.6, 1.9, 3.4};
constexpr ByProtocol kTreePci = {1.0, 1.9, 4.0};
constexpr ByProtocol kRingPci = {1.0, 2.5, 5.7};
constexpr ByProtocol kTreeNet = {5.0, 8.5, 14.0};
constexpr ByProtocol kRingNet = {2.7, 4.0, 14.0};
constexpr ByProtocol kNetOverhead = {1.0, 1.0, 3.0};
constexpr double kPciGen3 = 12;       // x16
constexpr double kNicShare = 0.12;    // GB/s of a NIC for each Gbit/s: 12 for 100
constexpr double kLl128Efficiency = 0.92;
constexpr double kTreeEfficiency = 0.92;
constexpr double kTreeLl = 1 / 3.8;
constexpr double kTreeSimple = 0.85;

struct GpuConstants {
  double link = 0;  // GB/s of one NVLink
  int links = 0;
  std::array<double, 3> ll_most;       // on 1, 2, and 4 nodes or more
  double ring_ll128_channel = 0;       // of a channel at most
  std::array<double, 3> tree_channel;  // the same, on 1, 2, 4 nodes or more
};

GpuConstants constants_of(NcclGpu gpu) {
  switch (gpu) {
    case NcclGpu::kVolta: return {20, 6, {39, 39, 20.4}, 20, {26.5, 18.5, 10}};
    case NcclGpu::kAmpere: return {20, 12, {87.7, 22.5, 19}, 20, {24, 23.6, 17.8}};
    case NcclGpu::kHopper: return {20.6, 18, {141, 45, 35}, 36.7, {38.7, 41.4, 36}};
    case NcclGpu::kBlackwell: return {40.1, 18, {141, 45, 35}, 40, {38.7, 41.4, 36}};
  }
  return {};
}

/// Steps of the ring of `n` ranks, one after the other.
double ring_steps(const std::string& function, double n) {
  if (function == "all_reduce") return 2 * (n - 1);
  if (function == "broadcast" || function == "reduce") return n;
  return n - 1;
}

/// Not over a ring: each rank to each other one, or one server to all.
bool is_sent_directly(const std::string& function) {
  return function == "all_to_all" || function == "push" || function == "pull";
}

class Model {
 public:
  Model(const NcclNode& node, const ClusterShape& shape)
      : node_(node),
        constants_(constants_of(node.gpu)),
        shape_(shape),
        nodes_(shape.nodes),
        n_(shape.gpus()),
        scale_(shape.nodes >= 4 ? 2 : shape.nodes > 1 ? 1 : 0),
        bus_(nodes_ > 1 ? std::min(node.intra_gb_per_s, node.inter_gb_per_s) : node.intra_gb_per_s) {
    if (shape.gpus_per_node == 1) bus_ = node.inter_gb_per_s;
  }

  double ring_us(const std::string& function, double bytes, std::size_t protocol) const {
    const ByProtocol& inside = node_.nvlink ? kRingNvlink : kRingPci;
    const CollectiveTerms terms = collective_terms(function, shape_);
    const double steps = is_sent_directly(function) ? terms.messages : ring_steps(function, n_);
    const double crossings = terms.crossings;
    const double latency = kRingBase[protocol] +
                           std::max(0.0, steps - crossings) * (nodes_ > 1 ? std::max(inside[protocol], kNetOverhead[protocol])
                                                                          : inside[protocol]) +
                           crossings * kRingNet[protocol];
    // A bus bandwidth is that of a ring whose ranks send steps / n of the bytes; broadcast and reduce pipeline all of them.
    double share = function == "broadcast" || function == "reduce" ? 1 : steps / n_;
    if (is_sent_directly(function)) {  // the NICs of a node send for all its GPUs
      share = terms.per_rank * bus_ / (shape_.gpus_per_node > 1 ? node_.intra_gb_per_s : bus_);
      if (nodes_ > 1) share = std::max(share, terms.per_node * bus_ / node_.inter_gb_per_s);
    }
    return latency + bytes * share / (ring_rate(protocol) * 1e3);
  }

  double tree_us(double bytes, std::size_t protocol) const {
    const ByProtocol& inside = node_.nvlink ? kTreeNvlink : kTreePci;
    const double latency = kTreeBase[protocol] +
                           2 * ((n_ / nodes_ - 1) * inside[protocol] + std::log2(nodes_) * kTreeNet[protocol]);
    return latency + bytes / (tree_rate(protocol) * 0.5 * 1e3);
  }

 private:
  double ring_rate(std::size_t protocol) const {
    if (protocol == 0) return std::min(constants_.ll_most[scale_], bus_ / 2);
    if (protocol == 1) return std::min(bus_ * kLl128Efficiency, node_.channels * constants_.ring_ll128_channel);
    return bus_;
  }
  double tree_rate(std::size_t protocol) const {
    const double rate = std::min(bus_ * kTreeEfficiency, node_.channels * constants_.tree_channel[scale_]);
    if (protocol == 0) return std::min(rate * kTreeLl, constants_.ll_most[scale_]);
    return protocol == 1 ? rate : rate * kTreeSimple;
  }

  const NcclNode& node_;
  const GpuConstants constants_;
  const ClusterShape shape_;
  double nodes_;
  double n_;
  std::size_t scale_;  // index of constants by nodes
  double bus_;
};

bool names(const std::string& gpu, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return gpu.find(part) != std::string::npos; });
}

Measured<NcclGpu> generation_of(const std::string& gpu) {
  if (names(gpu, {"V100"})) return NcclGpu::kVolta;
  if (names(gpu, {"A100", "A10", "A30", "A40"})) return NcclGpu::kAmpere;
  if (names(gpu, {"H100", "H200", "GH200"})) return NcclGpu::kHopper;
  if (names(gpu, {"B200", "B300", "GB200", "GB300"})) return NcclGpu::kBlackwell;
  return Measured<NcclGpu>::missing(fmt::format("NCCL's tuning model has no constants of {}", gpu.empty() ? "no GPU" : gpu));
}

}  // namespace

Measured<NcclNode> nccl_node(const Sku& sku) {
  const Measured<NcclGpu> gpu = generation_of(sku.gpu);
  if (!gpu) return Measured<NcclNode>::missing(fmt::format("SKU {}: {}", sku.name, gpu.reason()));
  NcclNode node;
  node.gpu = *gpu;
  node.nvlink = sku.intra_link.rfind("NVLink", 0) == 0 && sku.intra_link.find("bridge") == std::string::npos;
  const GpuConstants constants = constants_of(node.gpu);
  node.intra_gb_per_s = node.nvlink ? constants.link * constants.links : kPciGen3;
  node.channels = node.nvlink ? 2 * constants.links : 2;
  const bool rdma = sku.rdma_gbps && *sku.rdma_gbps > 0;
  if (rdma) {
    node.inter_gb_per_s = *sku.rdma_gbps * kNicShare;
  } else if (sku.ethernet_gbps) {
    node.inter_gb_per_s = *sku.ethernet_gbps * kNicShare;
  }
  return node;
}

Measured<double> nccl_model_ns(const NcclNode& node, const std::string& function, double bytes, const ClusterShape& shape,
                               NcclAlgorithm algorithm) {
  if (shape.gpus() <= 1) return 0.0;
  if (shape.nodes > 1 && node.inter_gb_per_s <= 0)
    return Measured<double>::missing("the catalogue does not say what network is between these nodes");
  const Model model(node, shape);
  // NCCL uses trees on several nodes; on one node rings are as fast, and chains are not modelled separately
  // here.
  const bool has_tree = function == "all_reduce" && shape.nodes > 1;
  double best_us = std::numeric_limits<double>::max();
  for (std::size_t protocol = 0; protocol < kProtocols; ++protocol) {
    if (!has_tree || algorithm != NcclAlgorithm::kTree) best_us = std::min(best_us, model.ring_us(function, bytes, protocol));
    if (has_tree && algorithm != NcclAlgorithm::kRing) best_us = std::min(best_us, model.tree_us(bytes, protocol));
  }
  return best_us * 1e3;
}

}  // namespace ddbench::analyzer
