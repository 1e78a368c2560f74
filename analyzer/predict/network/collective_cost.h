#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/extrapolate/size_law.h"
#include "analyzer/predict/network/collective_terms.h"
#include "analyzer/predict/network/nccl_model.h"
#include "core/measured.h"

namespace ddbench::analyzer {

/// The duration of collectives of one function on one shape, by bytes as nccl-tests count them.
struct CostCurve {
  ClusterShape shape;
  std::map<double, double> time_ns;  ///< by bytes
  double relative_error = 0;         ///< standard deviation of a time about its mean
};

/// A link between nodes as somebody specified it.
struct SpecifiedLink {
  double bytes_per_s = 0;           ///< of payload, for each node and direction
  std::optional<double> latency_ns;  ///< of a message; empty: that of measured curves
};

struct CollectiveCost {
  double ns = 0;
  double relative_error = 0;
};

/// How ranks on several nodes reduce and gather.
enum class CollectiveAlgorithm {
  kUsual,         ///< as measured; a ring where a tier is carried over; the faster of ring and tree by NCCL's model
  kRing,          ///< one ring over all GPUs
  kTree,          ///< by NCCL's model only
  kHierarchical,  ///< reduce_scatter inside of nodes, all_reduce of each GPU's part between them, all_gather inside
};

/// What a collective costs on shapes, measured or not.
///
/// A curve of the same function and shape is read directly: linear between its sizes, its last slope beyond them, with an
/// error of 3% where the size was not measured (assumed), and of half of the latency where no size up to 64 KiB was and another
/// number of ranks multiplies it.
/// Otherwise a curve of the same tier is carried over to other numbers of ranks, with its latency by the messages
/// of a ring and the rest by the bytes that a ring moves: 2(n-1) alpha + 2(n-1)/n S beta for all_reduce
/// (Patarasuk and Yuan 2009), half of both for reduce_scatter and all_gather, and for broadcast (n-1) alpha + S beta.
/// A ring over k nodes crosses between nodes in (k-1) of every (n-1) messages, the others have the latency of the inner tier;
/// it moves bytes as fast as the slower of its tiers. The latency of a curve over nodes of several GPUs is split between
/// the tiers by a curve of the inner one. Without such a curve all of it is taken as that of the crossings, and the error
/// covers that all messages are alike. The GPUs of a node share its link (collective_terms()). A function that was not
/// measured is taken from another one's curve by the same formulas.
class CollectiveCosts {
 public:
  void add(const std::string& function, CostCurve curve);
  /// The curves so far were asked for: add() leaves out later ones of their tiers (between nodes, inside a node), whatever
  /// their function and shape.
  void set_requested();
  /// Whether anything states the costs of that tier.
  bool has_tier(bool network) const;
  void set_link(const SpecifiedLink& link) { link_ = link; }
  /// Nodes as in NCCL's tuning model: they give the cost of collectives on every shape, instead of curves and
  /// link.
  void set_nominal(const NcclNode& node) { nominal_ = node; }
  void set_algorithm(CollectiveAlgorithm algorithm) { algorithm_ = algorithm; }
  /// Scales later results of cost(): latency, and time per byte, of links between nodes.
  void scale_network(double latency, double per_byte) { latency_scale_ = latency, per_byte_scale_ = per_byte; }
  bool is_nominal() const noexcept { return nominal_.has_value(); }
  bool empty() const noexcept { return curves_.empty() && !link_ && !nominal_; }

  /// Missing, with a statement of what to measure, for a tier that was neither measured nor specified, or for
  /// a curve of a single size that does not determine other sizes.
  Measured<CollectiveCost> cost(const std::string& function, double bytes, const ClusterShape& shape) const;

 private:
  struct Found {
    const CostCurve* curve = nullptr;
    std::string function;
  };
  /// Latency of a message by tier, of a curve between nodes.
  struct Hops {
    double between_ns = 0;
    double inside_ns = 0;
    double inside_error = 0;  ///< relative
    bool is_split = true;     ///< false: the inner tier's part is not known and is within between_ns
  };
  Hops hops_of(const Found& outer, double latency_ns, const std::string& function, const ClusterShape& shape) const;
  Found same_shape(const std::string& function, const ClusterShape& shape) const;
  Found of_tier(const std::string& function, bool network, const ClusterShape& near) const;
  Measured<CollectiveCost> carried(const Found& found, const std::string& function, double bytes,
                                   const ClusterShape& shape, bool network) const;
  Measured<CollectiveCost> over_two_tiers(const Found& outer, const std::string& function, double bytes,
                                          const ClusterShape& shape) const;
  Measured<CollectiveCost> hierarchical(const std::string& function, double bytes, const ClusterShape& shape) const;
  Measured<CollectiveCost> nominal(const std::string& function, double bytes, const ClusterShape& shape) const;
  Measured<CollectiveCost> linked(const std::string& function, double bytes, const ClusterShape& shape) const;

  std::multimap<std::string, CostCurve> curves_;
  std::optional<SpecifiedLink> link_;
  std::optional<NcclNode> nominal_;
  CollectiveAlgorithm algorithm_ = CollectiveAlgorithm::kUsual;
  double latency_scale_ = 1;
  double per_byte_scale_ = 1;
  bool has_requested_network_ = false;
  bool has_requested_inside_ = false;
};

}  // namespace ddbench::analyzer
