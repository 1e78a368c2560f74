#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/predict/network/collective_cost.h"
#include "analyzer/predict/step_recording.h"
#include "analyzer/predict/what_if.h"
#include "analyzer/statistics/statistics.h"
#include "analyzer/store/rows/run_store.h"
#include "core/measured.h"

namespace ddbench::analyzer {

/// Adds the costs of a run's collectives on its own shape: all sizes of a run of `ddbench micro` or of
/// imported nccl-tests, else the mean transfer of each collective of a training run. Throws Error{kBadInput}
/// if the run has no costs.
void add_costs(const store::RunStore& store, const store::RunRecord& run, CollectiveCosts& costs);
/// The same of a test of nccl-tests, with a collective for each size.
void add_costs(const RunCase& run_case, const std::vector<store::CollectiveRecord>& measured, CollectiveCosts& costs);
/// The same of a recording.
void add_costs(const StepRecording& recording, CollectiveCosts& costs);

/// A replay on one shape.
struct ReplayPrediction {
  ClusterShape shape;
  Estimate step_ns;
  Estimate samples_per_s;
  double waited_ns = 0;    ///< a step: main lanes waited for collectives, mean over ranks
  double lane_ns = 0;      ///< a step: collectives moved data
  double arrival_ns = 0;   ///< a step: from first to last arrival, over collectives
  double cost_error = 0;   ///< part of ln(step time)'s error due to the error of the collectives' costs
  bool is_modelled = false;  ///< collectives take what costs say; else their recorded transfers
  /// replay_over_recorded() of the recording, unchanged: with the mean transfer of each collective where is_modelled, as costs
  /// know no single one. Its logarithm is in the intervals.
  double replay_over_recorded = 1;
  /// Step time of each replay of a sample of the blocks, without network and model error: those of two predictions with the
  /// same seed are pairs.
  std::vector<double> replicates_ns;
};

/// Root mean square of ln(predicted / measured) where it is not known for the run's own machines: that of the 18 predictions
/// of tests/bench/predict/measured.py, run on CPU. The noise of both runs is in it.
inline constexpr double kUsualModelError = 0.06;

struct PredictOptions {
  WhatIf what_if;
  /// Predict for a network other than the run's: recorded transfer times are not used even if the shape is
  /// the same.
  bool other_network = false;
  std::optional<double> modelled_ratio;    ///< where it is known already: ReplayPrediction::replay_over_recorded of modelled transfers
  double model_error = kUsualModelError;  ///< of ln(step time); model_error(BackTest) where there is one
  std::uint64_t seed = 1;
  std::size_t replicates = 20;
  double most_events = 3e7;  ///< that all replicates may replay together, half a second's worth; at least 4 steps each
  double most_events_of_fewest = 6e8;  ///< where 4 steps have more, fewer nodes are replayed, and each stands for several
};

/// The step of `recording`, with the changes, on `shape`.
///
/// On the recorded shape the steps are replayed in order, with all ranks in the same one. On other shapes each node replays
/// blocks of recorded steps that are drawn for it. Other replays take samples of the blocks, drawn with replacement: so the
/// spread over them is that of the mean of the recorded steps, and of the
/// slowest rank. The 95% interval adds the error of the costs, and the model's own: options.model_error, the
/// error of a replay of the run itself (ReplayPrediction::replay_over_recorded), 1% for each doubling of ranks, and 2% for each doubling of the batch
/// (assumed; tests/bench/predict/measured.py shows the coverage). Missing, with a statement of what to
/// measure, if costs do not cover a collective, and for several ranks if the recording, of one rank, has no
/// collectives; and for nodes of more than 65,536 ranks. Up to 65,536 ranks are replayed one by one. Beyond,
/// each replayed node stands for several and takes the slowest of the steps that they would draw (order
/// statistics). The slowest rank is then as slow as it should be; the others wait longer by what their own work is shorter.
Measured<ReplayPrediction> predict_step(const StepRecording& recording, const CollectiveCosts& costs,
                                        const ClusterShape& shape, const PredictOptions& options = {});

}  // namespace ddbench::analyzer
