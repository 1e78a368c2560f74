#include "analyzer/extrapolate/size_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/statistics/quantiles.h"
#include "analyzer/statistics/ratio_interval.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

using Missing = Measured<PathQuestion>;

void require_positive(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::kBadInput, fmt::format("a size has {} {}, but it must be a positive number", what, value));
}

PathPoint place_of(const ClusterShape& shape, double batch_per_gpu, const SizeQuestion& question) {
  require_positive(shape.gpus(), "a number of GPUs of");
  require_positive(batch_per_gpu, "a batch a GPU of");
  PathPoint point;
  point.shape = shape;
  point.batch_per_gpu = batch_per_gpu;
  const double copies = 1.0 / std::max(1, question.model_parallel);
  point.tier = shape.nodes == 1 || question.one_tier ? SizeTier::kNode : SizeTier::kNetwork;
  point.node_members = std::max(1.0, (question.one_tier ? shape.gpus() : shape.gpus_per_node) * copies);
  point.nodes_members = std::max(1.0, shape.nodes * std::min(1.0, shape.gpus_per_node * copies));
  return point;
}

/// Throws on throughputs that are none.
RunSpread spread_of(std::span<const SizeRate> sizes) {
  RunSpread spread;
  for (const SizeRate& size : sizes) {
    if (size.samples_per_s.empty()) throw Error(ErrorCode::kBadInput, "a size has no throughput");
    for (const double rate : size.samples_per_s) require_positive(rate, "a throughput of");
    spread.add(size.samples_per_s);
  }
  return spread;
}

/// The size's own spread where it has enough runs; else, as far as there is one, that of all sizes.
double variance_of_mean(const SizeRate& size, const RunSpread& of_all) {
  RunSpread spread;
  spread.add(size.samples_per_s);
  if (size.samples_per_s.size() < kFewestRuns && of_all.degrees_of_freedom > 1) spread = of_all;
  if (spread.degrees_of_freedom < 1) return 0;
  const double few_runs = t_quantile(0.975, spread.degrees_of_freedom) / kNormal95;
  return few_runs * few_runs * spread.squares / spread.degrees_of_freedom /
         static_cast<double>(size.samples_per_s.size());
}

/// With the mean over runs, and how uncertain it is.
PathPoint point_of(const SizeRate& size, const RunSpread& of_all, const SizeQuestion& question) {
  PathPoint point = place_of(size.shape, size.batch_per_gpu, question);
  double logarithm = 0;
  for (const double rate : size.samples_per_s)
    logarithm += std::log(size.shape.gpus() / rate) / static_cast<double>(size.samples_per_s.size());
  point.seconds = std::exp(logarithm);
  point.variance = variance_of_mean(size, of_all);
  return point;
}

bool on_one_node(const PathPoint& point) {
  return point.tier == SizeTier::kNode;
}

bool by_size(const PathPoint& a, const PathPoint& b) {
  return std::tuple(a.shape.gpus(), a.batch_per_gpu, a.shape.nodes) < std::tuple(b.shape.gpus(), b.batch_per_gpu, b.shape.nodes);
}

/// Sorts them. Points of as many GPUs in one tier become one, with their geometric mean, however their GPUs sit in
/// nodes: no slope goes through two of them.
std::vector<PathPoint> by_distinct_size(std::vector<PathPoint> points) {
  std::sort(points.begin(), points.end(), by_size);
  std::vector<PathPoint> sizes;
  for (auto first = points.begin(); first != points.end();) {
    const auto last = std::find_if_not(first + 1, points.end(), [&](const PathPoint& point) {
      return on_one_node(*first) && on_one_node(point) && point.shape.gpus() == first->shape.gpus() &&
             point.batch_per_gpu == first->batch_per_gpu;
    });
    PathPoint& size = sizes.emplace_back(*first);
    const auto count = static_cast<double>(last - first);
    double logarithm = 0;
    size.variance = 0;
    for (; first != last; ++first) {
      logarithm += std::log(first->seconds) / count;
      size.variance += first->variance / count / count;
    }
    size.seconds = std::exp(logarithm);
  }
  return sizes;
}

/// Sizes of one node, then nodes of as many GPUs as are asked for.
std::vector<PathPoint> leading_to(const std::vector<PathPoint>& points, const PathPoint& to) {
  std::vector<PathPoint> path;
  for (const PathPoint& point : points) {
    const bool smaller_node = to.tier == SizeTier::kNode || point.shape.gpus_per_node <= to.shape.gpus_per_node;
    const bool wanted = on_one_node(point) ? smaller_node
                                           : to.tier == SizeTier::kNetwork &&
                                                 point.shape.gpus_per_node == to.shape.gpus_per_node;
    if (wanted) path.push_back(point);
  }
  return path;
}

/// Two or more sizes of the network with another number of GPUs a node, and the slope through the largest
/// ones.
bool slope_elsewhere(const std::vector<PathPoint>& points, PathQuestion& question) {
  std::map<int, std::vector<PathPoint>> by_node;
  for (const PathPoint& point : points) by_node[point.shape.gpus_per_node].push_back(point);
  for (auto group = by_node.rbegin(); group != by_node.rend(); ++group) {
    const std::vector<PathPoint>& sizes = group->second;
    if (sizes.size() < 2 || on_one_node(sizes.back())) continue;
    question.slope = {sizes[sizes.size() - 2], sizes.back()};
    question.elsewhere = sizes;
    return true;
  }
  return false;
}

std::string only_one_node(const PathPoint& to) {
  return fmt::format(
      "{} nodes of {} GPUs need the network between nodes, and no run used it: measure two or more nodes (or, where a "
      "node has as many GPUs, ask for 1x{:.0f})",
      to.shape.nodes, to.shape.gpus_per_node, to.shape.gpus());
}

std::string another_node(const PathPoint& to) {
  return fmt::format(
      "no run used nodes of {} GPUs: measure one or more of them (sizes are asked for as NODESxGPUS)",
      to.shape.gpus_per_node);
}

/// Where `to` is among the path's sizes of its tier, from `first` on; there are two of these or more.
void place(PathQuestion& question, std::size_t first) {
  const std::vector<PathPoint>& path = question.path;
  const SizeTier tier = question.to.tier;
  std::size_t upper = first;
  while (upper < path.size() && path[upper].members(tier) < question.to.members(tier)) ++upper;
  question.inside = upper < path.size() && (upper > first || path[upper].members(tier) == question.to.members(tier));
  if (upper == path.size()) {
    question.near = upper - 1;
    question.slope = {path[upper - 2], path[upper - 1]};
    return;
  }
  question.near = upper;
  question.slope = {path[upper == first ? first + 1 : upper - 1], path[upper]};
}

/// Missing with the reason, or the path without where the question lies on it.
Missing in_the_network(PathQuestion question, const std::vector<PathPoint>& points) {
  const auto same_node = [&](const PathPoint& point) {
    return point.shape.gpus_per_node == question.to.shape.gpus_per_node;
  };
  const auto first = std::find_if(question.path.begin(), question.path.end(), same_node);
  const bool any_network = std::any_of(points.begin(), points.end(), [](const auto& p) { return !on_one_node(p); });
  if (!any_network) return Missing::missing(only_one_node(question.to));
  if (first == question.path.end()) return Missing::missing(another_node(question.to));
  if (question.path.end() - first >= 2) {
    place(question, static_cast<std::size_t>(first - question.path.begin()));
    return question;
  }
  question.near = question.path.size() - 1;
  if (question.path.back().shape == question.to.shape) {
    question.slope = {question.path.back(), question.path.back()};
    return question;
  }
  if (!slope_elsewhere(points, question)) {
    return Missing::missing(fmt::format("only {} nodes were measured: measure another number of nodes",
                                        question.path.back().shape.nodes));
  }
  return question;
}

}  // namespace

bool joined(const PathPoint& smaller, const PathPoint& larger) {
  if (larger.tier == SizeTier::kNode) return smaller.tier == SizeTier::kNode;
  return smaller.shape.gpus_per_node == larger.shape.gpus_per_node;
}

Measured<PathQuestion> path_to(std::span<const SizeRate> sizes, const SizeQuestion& question) {
  if (sizes.empty()) throw Error(ErrorCode::kBadInput, "there are no sizes to predict others from");
  std::vector<PathPoint> points;
  const RunSpread spread = spread_of(sizes);
  for (const SizeRate& size : sizes) points.push_back(point_of(size, spread, question));
  points = by_distinct_size(std::move(points));
  PathQuestion result;
  result.to = place_of(question.shape, question.batch_per_gpu, question);
  result.path = leading_to(points, result.to);
  if (result.to.tier == SizeTier::kNetwork) return in_the_network(std::move(result), points);
  const auto is_asked = [&](const PathPoint& point) { return point.shape.gpus() == question.shape.gpus(); };
  if (result.path.size() == 1 && is_asked(result.path.front())) {
    result.slope = {result.path.front(), result.path.front()};
    return result;
  }
  if (result.path.size() < 2)
    return Missing::missing("two or more sizes of one node must be measured before others can be predicted");
  place(result, 0);
  return result;
}

}  // namespace ddbench::analyzer
