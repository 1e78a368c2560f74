#include "analyzer/predict/network/collective_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ddbench::analyzer {
namespace {

using Missing = Measured<CollectiveCost>;

constexpr double kCarriedError = 0.05;  // of a curve on another number of ranks
constexpr double kBetweenSizesError = 0.03;  // bursts and algorithms make curves between sizes no lines
constexpr double kOneSizeTolerance = 0.02;

/// Time of no bytes: where the line through the two smallest sizes begins, no less than 0.
double latency_of(const CostCurve& curve) {
  if (curve.time_ns.size() < 2) return 0;
  const auto first = curve.time_ns.begin();
  const auto second = std::next(first);
  const double slope = std::max(0.0, (second->second - first->second) / (second->first - first->first));
  return std::clamp(first->second - slope * first->first, 0.0, first->second);
}

/// Relative error of latency_of(): if all sizes are large, they do not determine the latency.
double latency_error(const CostCurve& curve) {
  constexpr double kSmall = 65'536;
  return curve.time_ns.begin()->first > kSmall ? 0.5 : 0;
}

/// Of a curve of one tier. Empty if its sizes do not determine it.
std::optional<double> message_ns(const std::string& function, const CostCurve* curve) {
  if (curve == nullptr || curve->time_ns.size() < 2) return {};
  return latency_of(*curve) / collective_terms(function, curve->shape).messages;
}

/// Empty if one size does not determine another.
std::optional<double> time_at(const CostCurve& curve, double bytes) {
  const auto& times = curve.time_ns;
  if (times.size() == 1) {
    const auto& [size, time] = *times.begin();
    if (std::abs(bytes - size) > kOneSizeTolerance * size) return {};
    return time * bytes / size;
  }
  auto upper = times.lower_bound(bytes);
  if (upper != times.end() && upper->first == bytes) return upper->second;
  if (upper == times.begin()) return latency_of(curve) + (upper->second - latency_of(curve)) * bytes / upper->first;
  if (upper == times.end()) --upper;
  const auto lower = std::prev(upper);
  const double slope = (upper->second - lower->second) / (upper->first - lower->first);
  if (bytes > upper->first) return upper->second + std::max(slope, upper->second / upper->first * 0.5) * (bytes - upper->first);
  return lower->second + slope * (bytes - lower->first);
}

std::string what_to_measure(bool network, const ClusterShape& shape) {
  if (network) {
    return fmt::format(
        "what collectives cost between nodes was neither measured nor specified: measure it with `ddbench micro --nodes 2 "
        "--gpus {}` and give that run as --network, or give --link RATE,LATENCY",
        shape.gpus_per_node);
  }
  return fmt::format(
      "what collectives cost between the GPUs of a node was not measured: measure it with `ddbench micro --nodes 1 "
      "--gpus {}` and give that run as --network",
      std::max(2, shape.gpus_per_node));
}

}  // namespace

void CollectiveCosts::add(const std::string& function, CostCurve curve) {
  if (curve.time_ns.empty() || curve.shape.gpus() <= 1) return;
  if (curve.shape.nodes > 1 ? has_requested_network_ : has_requested_inside_) return;
  curves_.emplace(function, std::move(curve));
}

void CollectiveCosts::set_requested() {
  for (const auto& [function, curve] : curves_) (curve.shape.nodes > 1 ? has_requested_network_ : has_requested_inside_) = true;
}

bool CollectiveCosts::has_tier(bool network) const {
  if (nominal_ || (network && link_)) return true;
  return std::any_of(curves_.begin(), curves_.end(), [&](const auto& entry) { return (entry.second.shape.nodes > 1) == network; });
}

CollectiveCosts::Found CollectiveCosts::same_shape(const std::string& function, const ClusterShape& shape) const {
  const auto [first, last] = curves_.equal_range(function);
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second.shape == shape; });
  return found == last ? Found{} : Found{&found->second, function};
}

/// The function's own curve before that of another, and the most ranks first.
CollectiveCosts::Found CollectiveCosts::of_tier(const std::string& function, bool network,
                                                const ClusterShape& near) const {
  Found best;
  const auto rank = [&](const Found& found) {
    return std::array<double, 4>{found.function == function ? 1.0 : 0.0, found.function == "all_reduce" ? 1.0 : 0.0,
                                 found.curve->shape.gpus_per_node == near.gpus_per_node ? 1.0 : 0.0,
                                 found.curve->shape.gpus()};
  };
  for (const auto& [name, curve] : curves_) {
    if ((curve.shape.nodes > 1) != network) continue;
    const Found here{&curve, name};
    if (best.curve == nullptr || rank(here) > rank(best)) best = here;
  }
  return best;
}

/// The inner tier's messages take what its own curve says, at most the mean of all messages, and the crossings the rest.
CollectiveCosts::Hops CollectiveCosts::hops_of(const Found& outer, double latency_ns, const std::string& function,
                                               const ClusterShape& shape) const {
  const CollectiveTerms terms = collective_terms(outer.function, outer.curve->shape);
  const double inner_messages = terms.messages - terms.crossings;
  const Found inner = of_tier(function, false, shape);
  const std::optional<double> inside = message_ns(inner.function, inner.curve);
  Hops hops;
  hops.is_split = inner_messages == 0 || inside.has_value();
  if (inside) {
    hops.inside_ns = inner_messages > 0 ? std::min(*inside, latency_ns / terms.messages) : *inside;
    hops.inside_error = latency_error(*inner.curve);
  }
  hops.between_ns = (latency_ns - inner_messages * hops.inside_ns) / terms.crossings;
  return hops;
}

Measured<CollectiveCost> CollectiveCosts::carried(const Found& found, const std::string& function, double bytes,
                                                  const ClusterShape& shape, bool network) const {
  const CostCurve& curve = *found.curve;
  const std::optional<double> time = time_at(curve, bytes);
  if (!time) {
    return Missing::missing(fmt::format("{} was measured with {:.0f} bytes only, which says nothing about {:.0f} bytes: {}",
                                        found.function, curve.time_ns.begin()->first, bytes,
                                        what_to_measure(network, shape)));
  }
  const CollectiveTerms there = collective_terms(found.function, curve.shape);
  const CollectiveTerms here = collective_terms(function, shape);
  const double measured_ns = std::min(latency_of(curve), *time);
  const Hops hops = network ? hops_of(found, measured_ns, function, shape) : Hops{0, measured_ns / there.messages};
  const double between = network ? hops.between_ns * here.crossings : 0;
  const double inside = hops.inside_ns * (network ? here.messages - here.crossings : here.messages);
  const double moved = (*time - measured_ns) * (network ? here.per_node / there.per_node : here.per_rank / there.per_rank);
  const bool same = found.function == function && curve.shape == shape;
  CollectiveCost cost;
  cost.ns = network ? between * latency_scale_ + inside + moved * per_byte_scale_ : inside + moved;
  const double read = curve.time_ns.contains(bytes) ? 0 : kBetweenSizesError;
  cost.relative_error = std::hypot(curve.relative_error, read, same ? 0.0 : kCarriedError);
  if (same || cost.ns <= 0) return cost;
  const double of_curve = latency_error(curve) * (network ? between : inside);
  const double of_inner = hops.inside_error * inside;
  const double of_split = hops.is_split ? 0 : between - measured_ns * here.messages / there.messages;
  cost.relative_error = std::hypot(cost.relative_error, std::hypot(of_curve, of_inner, of_split) / (between + inside + moved));
  return cost;
}

/// Latency is the time for zero bytes.
Measured<CollectiveCost> CollectiveCosts::nominal(const std::string& function, double bytes, const ClusterShape& shape) const {
  const NcclAlgorithm algorithm = algorithm_ == CollectiveAlgorithm::kRing   ? NcclAlgorithm::kRing
                                  : algorithm_ == CollectiveAlgorithm::kTree ? NcclAlgorithm::kTree
                                                                             : NcclAlgorithm::kFastest;
  const Measured<double> whole = nccl_model_ns(*nominal_, function, bytes, shape, algorithm);
  if (!whole) return Missing::missing(whole.reason());
  const double latency = *nccl_model_ns(*nominal_, function, 0, shape, algorithm);
  const bool network = shape.nodes > 1;
  CollectiveCost cost;
  cost.ns = latency * (network ? latency_scale_ : 1) + (*whole - latency) * (network ? per_byte_scale_ : 1);
  cost.relative_error = kNcclModelError;
  return cost;
}

Measured<CollectiveCost> CollectiveCosts::linked(const std::string& function, double bytes,
                                                 const ClusterShape& shape) const {
  std::optional<double> crossing_ns = link_->latency_ns;
  if (const Found outer = of_tier(function, true, shape); !crossing_ns && outer.curve != nullptr && outer.curve->time_ns.size() > 1)
    crossing_ns = hops_of(outer, latency_of(*outer.curve), function, shape).between_ns;
  if (const Found inner = of_tier(function, false, shape); !crossing_ns) crossing_ns = message_ns(inner.function, inner.curve);
  if (!crossing_ns) {
    return Missing::missing("the latency of the link is not known: give --link RATE,LATENCY as in 1gbit,50us, or a run of "
                            "`ddbench micro` as --network");
  }
  const CollectiveTerms terms = collective_terms(function, shape);
  CollectiveCost cost;
  cost.ns = terms.crossings * *crossing_ns * latency_scale_ + terms.per_node * bytes * 1e9 / link_->bytes_per_s * per_byte_scale_;
  cost.relative_error = kCarriedError;
  return cost;
}

/// The slower tier determines the time for the bytes.
Measured<CollectiveCost> CollectiveCosts::over_two_tiers(const Found& outer, const std::string& function, double bytes,
                                                         const ClusterShape& shape) const {
  const Measured<CollectiveCost> between =
      link_ ? linked(function, bytes, shape) : carried(outer, function, bytes, shape, true);
  const bool inner_known = !link_ && outer.curve->shape.gpus_per_node == shape.gpus_per_node;
  if (!between || shape.gpus_per_node == 1 || inner_known) return between;
  const Found inner = of_tier(function, false, shape);
  if (inner.curve == nullptr) return Missing::missing(what_to_measure(false, shape));
  const Measured<CollectiveCost> inside = carried(inner, function, bytes, shape, false);
  if (!inside) return inside;
  CollectiveCost cost = *between;
  if (link_) {  // a curve's latency has those inside
    const CollectiveTerms terms = collective_terms(function, shape);
    const double added = (terms.messages - terms.crossings) * message_ns(inner.function, inner.curve).value_or(0);
    cost.ns += added;
    if (added > 0) cost.relative_error = std::hypot(cost.relative_error, latency_error(*inner.curve) * added / cost.ns);
  }
  return inside->ns > cost.ns ? *inside : cost;
}

/// Each GPU's part goes between the nodes, all parts of a node over its network together.
Measured<CollectiveCost> CollectiveCosts::hierarchical(const std::string& function, double bytes,
                                                       const ClusterShape& shape) const {
  const ClusterShape node{1, shape.gpus_per_node};
  const ClusterShape between{shape.nodes, 1};
  const Measured<CollectiveCost> outer = cost(function, bytes, between);
  if (!outer) return outer;
  CollectiveCost sum = *outer;
  for (const char* inside : {"reduce_scatter", "all_gather"}) {
    if (function != "all_reduce" && function != inside) continue;
    const Measured<CollectiveCost> inner = cost(inside, bytes, node);
    if (!inner) return inner;
    const double ns = sum.ns + inner->ns;
    if (ns > 0) sum.relative_error = (sum.relative_error * sum.ns + inner->relative_error * inner->ns) / ns;
    sum.ns = ns;
  }
  return sum;
}

Measured<CollectiveCost> CollectiveCosts::cost(const std::string& function, double bytes,
                                               const ClusterShape& shape) const {
  if (shape.gpus() <= 1) return CollectiveCost{};
  const bool network = shape.nodes > 1;
  const bool has_parts = function == "all_reduce" || function == "reduce_scatter" || function == "all_gather";
  if (algorithm_ == CollectiveAlgorithm::kHierarchical && network && shape.gpus_per_node > 1 && has_parts)
    return hierarchical(function, bytes, shape);
  if (nominal_) return nominal(function, bytes, shape);
  if (algorithm_ == CollectiveAlgorithm::kTree)
    return Missing::missing("what a tree takes follows from NCCL's tuning model only: give a SKU of the catalogue as --network");
  const bool by_link = network && link_.has_value();
  const bool as_measured = algorithm_ == CollectiveAlgorithm::kUsual || shape.gpus_per_node == 1 || !network;
  if (const Found found = same_shape(function, shape); found.curve != nullptr && !by_link && as_measured)
    return carried(found, function, bytes, shape, network);
  const Found outer = of_tier(function, network, shape);
  if (outer.curve == nullptr && !by_link) return Missing::missing(what_to_measure(network, shape));
  return network ? over_two_tiers(outer, function, bytes, shape) : carried(outer, function, bytes, shape, false);
}

}  // namespace ddbench::analyzer
