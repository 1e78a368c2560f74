#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/extrapolate/size_law.h"

namespace ddbench::analyzer {

inline constexpr double kNormal95 = 1.959964;

/// What a collective of a size crosses last.
enum class SizeTier { kNode, kNetwork };

/// A measured size, as a point on the path to the requested one.
struct PathPoint {
  ClusterShape shape;
  SizeTier tier = SizeTier::kNode;
  double node_members = 1;   ///< copies of the model in a node (in all, where there is one tier)
  double nodes_members = 1;  ///< nodes that an all-reduce spans
  double batch_per_gpu = 1;  ///< samples a GPU and step
  double seconds = 0;        ///< of a GPU for a sample: the mean over runs
  /// Of the logarithm of that mean, so large that a normal distribution's 95% interval is Student's of the runs. Sizes of
  /// one run or two scatter as all sizes do; 0 where none has several runs.
  double variance = 0;

  double members(SizeTier in) const noexcept { return in == SizeTier::kNode ? node_members : nodes_members; }
};

/// The sizes that lead to the requested one: GPUs of a node first, then nodes with equally many GPUs.
struct PathQuestion {
  std::vector<PathPoint> path;
  PathPoint to;          ///< without seconds
  std::size_t near = 0;  ///< the size that is carried on from
  bool inside = false;   ///< `to` lies between measured sizes
  /// What slopes go through, the point nearer to the asked size second. That is the near size itself, or nodes with
  /// another number of GPUs.
  std::pair<PathPoint, PathPoint> slope;
  std::vector<PathPoint>
      elsewhere;  ///< those nodes by their number, where `slope` goes through two of them; else empty
};

/// Whether a slope from `smaller` to `larger` lies in the tier of the larger one. One node is the network's first size.
bool joined(const PathPoint& smaller, const PathPoint& larger);

/// Missing, with a statement of what to measure, if the sizes do not lead there. Throws Error{kBadInput} for
/// no sizes, a size without throughput, or values that are not positive.
Measured<PathQuestion> path_to(std::span<const SizeRate> sizes, const SizeQuestion& question);

}  // namespace ddbench::analyzer
