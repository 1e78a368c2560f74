#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/batch/noise_scale.h"
#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/figure/figure.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

// What a rank stores in some steps of a run of several ranks (RunStore::step_values).

/// |g|^2 of this rank's gradient over its own samples; its mean over ranks is GradientNorms::small_square.
inline constexpr const char* kGradientSquareLocal = "gradient_square_local";
/// Its mean over ranks is |g|^2 of the averaged gradient, GradientNorms::big_square.
inline constexpr const char* kGradientSquareMean = "gradient_square_mean";
/// Recorded by rank 0: the loss that is compared with RunCase::target_loss.
inline constexpr const char* kSmoothedLoss = "smoothed_loss";

/// The measured steps of a run that all ranks stored both norms for. Empty on one rank.
std::vector<GradientNorms> gradient_norms(const store::RunStore& store, const store::RunRecord& run);

/// How close a run came to the target.
struct StepsTowardsTarget {
  double steps = 0;
  bool reached = false;  ///< false: the run ended after `steps` and would have needed more (censored)
};

/// Steps, warm-up included, after which the loss had come down to the run's target: those of the smoothed loss
/// minus the delay of its window (loss_window_delay_steps). Missing without a target or a smoothed loss.
Measured<StepsTowardsTarget> steps_towards_target(const store::RunStore& store, const store::RunRecord& run);

/// The runs with one global batch on one number of GPUs.
struct BatchRow {
  RunCase run_case;  ///< of the first
  std::int64_t global_batch = 0;
  int world_size = 1;
  std::vector<store::RunId> runs;
  std::vector<double> run_steps;        ///< to the target, for the runs that reached it
  std::vector<double> unreached_after;  ///< steps after which the other runs ended
  int missed = 0;                       ///< runs that did not get there
  /// Mean over runs. Runs that ended before count as longer than they were (censored_mean).
  Measured<double> steps = Measured<double>::missing("no run reached the target");
  Measured<double> samples = Measured<double>::missing("no run reached the target");
  Measured<double> applied_rate = Measured<double>::missing("no runs");   ///< applied_learning_rate() of the first
  /// Geometric mean over runs. Missing, as all figures of time and cost, where the runs were on several shapes, SKUs or links.
  Measured<double> step_time_ns = Measured<double>::missing("no steps");
  Measured<double> time_s = Measured<double>::missing("no run reached the target");
  Measured<double> gpu_hours = Measured<double>::missing("no run reached the target");
  Measured<double> usd =
      Measured<double>::missing("no price");  ///< of all nodes, on demand, until the target
  Measured<NoiseScale> noise = Measured<NoiseScale>::missing("one rank: nothing to compare");
  /// For the GPUs added since the row before (the next smaller number of GPUs with the same batch per GPU, SKU and link):
  /// the reduction in time to the target, as a share of the ideal one, (t1/t2 - 1)/(n2/n1 - 1).
  Measured<double> return_of_added = Measured<double>::missing("no smaller number of GPUs of the same SKU and link");
  ProvenanceSet provenance;
};

/// Runs that differ in size, batch, seed and learning rate only. Of several learning rates with one batch, the one
/// that needs the fewest steps counts. It is chosen on one half of the runs and judged on the other, both ways,
/// because the runs that selected it flatter it.
struct BatchCurve {
  std::string variant;         ///< how it differs from other curves: "lr_rule=sqrt"
  std::vector<BatchRow> rows;  ///< by GPUs, then batch
  Measured<CriticalBatch> critical = Measured<CriticalBatch>::missing("no runs");
  std::vector<StepsToTarget> points;  ///< the fitted points
  /// The largest global batch whose added GPUs still returned half of their share. Without any loss of
  /// scaling that is the critical batch where GPUs are doubled.
  Measured<double> pays_up_to = Measured<double>::missing("no runs");
  std::vector<std::string> notes;
};

struct BatchAnalysis {
  double target_loss = 0;
  std::vector<BatchCurve> curves;
  std::vector<std::string> notes;
};

/// For runs with a target loss; others contribute only their noise scale. Throws Error{kBadInput} when the
/// runs have different targets (named), or none of them has a target or a noise scale.
BatchAnalysis batch_analysis(const store::RunStore& store, std::span<const store::RunRecord> runs,
                             const SkuCatalogue& catalogue);

/// Steps and samples to the target over the batch, measured and fitted (critical_batch_figure).
Figure batch_figure(const BatchCurve& curve);

}  // namespace ddbench::analyzer
