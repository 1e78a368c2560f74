#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measured.h"

namespace ddbench::analyzer {

/// A cluster as collectives see it: nodes joined by a network, GPUs joined inside of a node.
struct ClusterShape {
  int nodes = 1;
  int gpus_per_node = 1;
  bool nodes_not_stated = false;  ///< as of a case: counted as one node, and equal to one
  double gpus() const noexcept { return static_cast<double>(nodes) * gpus_per_node; }
  friend bool operator==(const ClusterShape& a, const ClusterShape& b) { return a.nodes == b.nodes && a.gpus_per_node == b.gpus_per_node; }
};

/// What the runs of one size reached.
struct SizeRate {
  ClusterShape shape;
  double batch_per_gpu = 1;  ///< samples a GPU and step: constant in weak scaling, falling in strong scaling
  std::vector<double> samples_per_s;  ///< of all GPUs, one a run; positive
};

struct SizeQuestion {
  ClusterShape shape;
  double batch_per_gpu = 1;
  int model_parallel = 1;  ///< GPUs that share one copy of the model: they are one member of its all-reduce
  /// The sizes state GPUs but not their placement on nodes: all count as members of one tier, and sizes of as many
  /// GPUs as one, their geometric mean.
  bool one_tier = false;
};

/// One way to carry a curve on, and how well it predicted sizes that were measured.
struct SizeModel {
  std::string name;   ///< "keeps its rate", "(n-1)/n", "log2 n", "n-1"
  double weight = 0;  ///< of all models of a prediction: they sum to 1
  double samples_per_s = 0;
  /// Root mean square relative error when each measured size is predicted from the smaller ones; the larger a
  /// size, the more it counts.
  Measured<double> error = Measured<double>::missing("fewer than three sizes of one tier");
};

struct SizePrediction {
  ClusterShape shape;
  double samples_per_s = 0;
  ConfidenceInterval interval;
  std::vector<SizeModel> models;  ///< the heaviest first
  bool extrapolated = false;      ///< more than twice the GPUs of the largest size, or less than half of the smallest
};

/// Predicts the throughput of a size from those of others.
///
/// The time of a sample on a GPU, y = GPUs / throughput, is its computation time, which does not depend on
/// the size, plus an overhead per step, shared by the samples of the step: y = c + F / batch_per_gpu. Models
/// of F:
/// - "keeps its rate": nothing is added beyond the nearest measured size;
/// - "(n-1)/n": bytes that a ring moves (refdata: 2 (n-1)/n S beta), in GPUs of a node, or in nodes;
/// - "log2 n": steps of a tree, or waits for the slowest; it counts only where measured sizes judge it (two
/// in a node, one
///   with several nodes);
/// - "n-1": messages of a ring, or a loader, host or batch that all GPUs share. Its weight in a node grows
/// with what the
///   measured sizes lose; with several nodes it counts only where a measured size judges it.
/// Each goes through the two nearest sizes of the tier that the prediction moves in, so that sizes of another
/// regime do not bend it; where it extrapolates, more GPUs never make the others faster. Models are averaged,
/// in y, with weights inverse to their mean squared error at measured sizes, shrunk to a common one of 0.6%
/// so that few sizes leave the weights near their priors. Sizes of one node judge models of the network too,
/// but cannot show that it costs nothing.
///
/// The 95% interval adds the spread between the models, their error at measured sizes, the noise of the runs of
/// the sizes that they go through (Student's t; sizes with fewer than three runs scatter as all sizes do), and 3%
/// for each doubling of GPUs. The last, the factor 2 on the spread, and the priors are calibrated by back-tests
/// over published curves (tests/bench/predict).
///
/// Missing, with a statement of what to measure, if the question needs a tier that the sizes do not cover: a
/// second node where all ran on one node; another number of GPUs per node than was measured on several nodes.
Measured<SizePrediction> predict_size(std::span<const SizeRate> sizes, const SizeQuestion& question);

}  // namespace ddbench::analyzer
