#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/diagnose/stragglers.h"
#include "analyzer/figure/figure.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/run/utilisation.h"
#include "analyzer/scaling/curve_compatibility.h"
#include "analyzer/scaling/scaling_models.h"

namespace ddbench::analyzer {

/// A size that throughput is predicted for.
struct AskedSize {
  int nodes_or_gpus = 1;  ///< nodes where gpus_per_node is above 0; else GPUs in all
  int gpus_per_node = 0;
};

struct CurveOptions {
  /// What speedup and efficiency are stated against: "1" (the runs on one GPU), "node" (those on one node
  /// with as many GPUs as the others have a node), "smallest" (of all), or a run reference
  /// (resolve_reference) to runs of any case. Empty: "1" where there are such runs, else "smallest".
  std::string baseline;
  std::vector<AskedSize> predict_at;
  bool one_tier = false;  ///< predict as if all GPUs were in one tier, even if the runs state nodes
  bool any_provenance = false;              ///< fit a law though provenances are mixed
  const SkuCatalogue* catalogue = nullptr;  ///< for MFU; null: the built-in one
  std::string_view if_several = kChooseRuns;  ///< what to do where the runs are not one curve; ends the error
};

/// The runs of one size.
struct CurveRow {
  RunCase run_case;
  int world_size = 0;
  std::vector<store::RunId> runs;  ///< that gave figures, oldest first
  std::vector<double> run_samples_per_s;
  double samples_per_s = 0;  ///< this and the following are those of CaseFigures and CaseEfficiency
  std::string without_samples = {};
  Measured<Quantity> step_time_ns = Measured<Quantity>::missing("no runs");
  bool is_baseline = false;
  double speedup = 1;  ///< over the baseline: samples/s; with strong scaling that is T(1)/T(N)
  Measured<ConfidenceInterval> speedup_interval = Measured<ConfidenceInterval>::missing("no baseline");
  double efficiency = 1;  ///< speedup over N, which counts multiples of the baseline's GPUs
  Measured<ConfidenceInterval> efficiency_interval = Measured<ConfidenceInterval>::missing("no baseline");
  /// Karp and Flatt; its interval follows from that of the speedup.
  Measured<Metric> serial_fraction = Measured<Metric>::missing("weak scaling");
  Measured<double> exposed_share = Measured<double>::missing("no partition");
  /// Lost step time by parts: the step here minus the ideal one of the baseline. Sums to lost_ns.
  Measured<store::StepPartition> waterfall = Measured<store::StepPartition>::missing("no baseline");
  std::int64_t lost_ns = 0;
  Measured<LossIntervals> loss_intervals = Measured<LossIntervals>::missing("no baseline");
  Utilisation utilisation;
  /// Share of the wall time of all runs of this size (failed ones too) that went into measured steps.
  Measured<double> measured_share = Measured<double>::missing("no wall times");
  double checkpoint_ns = 0;  ///< that checkpoints added to a step; mean over runs, part of step_time_ns
  ProvenanceSet provenance;
};

struct ScalingCurve {
  ScalingMode mode = ScalingMode::kWeak;
  std::string baseline;  ///< in words
  int baseline_gpus = 1;
  std::vector<double> baseline_run_samples_per_s = {};
  std::vector<CurveRow> rows;  ///< by world size, then nodes
  Measured<ModelChoice> model = Measured<ModelChoice>::missing("no runs");
  std::string why_not_predicted;  ///< several SKUs or mixed provenances; empty: predictions_of() may be called
  std::vector<Prediction> predictions;
  Measured<StragglerReport> stragglers =
      Measured<StragglerReport>::missing("no runs");  ///< of the largest size
  std::vector<std::string> notes;

  /// Speedup over the baseline of a throughput.
  double speedup_of(double samples_per_s) const;
  /// Whether samples_per_s of rows and predictions are samples. Otherwise they are steps of all ranks.
  bool counts_samples() const;
};

/// Throws Error{kBadInput} when there are no runs, none that gave figures, none that can be the baseline, or
/// when they are not one curve: they differ in workload, precision, batch (a GPU when weak, in all when
/// strong), strategy, or whatever else defines a run but for its size; the message names field and values.
/// Runs of mixed provenance are one curve with a note, to which no law is fitted and from which nothing is
/// predicted. Also throws Error{kBadInput}, with a statement of what to measure, for a requested size that
/// the runs do not cover.
ScalingCurve scaling_curve(const store::RunStore& store, std::span<const store::RunRecord> runs,
                           const CurveOptions& options = {});

/// "64" (GPUs, in nodes as large as those of the largest runs) or "8x4" (nodes x GPUs per node). Throws
/// Error{kBadInput} that names `text` for anything else, and beyond 10,000,000 GPUs.
AskedSize asked_size(std::string_view text);

/// Predictions for the requested sizes from the rows of a curve (analyzer/extrapolate/size_law.h). Throws
/// Error{kBadInput}, with a statement of what to measure, if the rows do not cover them.
std::vector<Prediction> predictions_of(const ScalingCurve& curve, const CurveOptions& options);

/// A measured size, and its prediction from the smaller sizes of its curve.
struct ValidatedSize {
  ClusterShape shape;
  double samples_per_s = 0;  ///< measured; steps of all ranks where the curve does not count samples
  Measured<Prediction> predicted = Measured<Prediction>::missing("the smallest size");
};

/// Every size of the curve, by size; sizes that the smaller ones cannot predict are missing with the reason.
std::vector<ValidatedSize> validated_sizes(const ScalingCurve& curve, bool one_tier = false);

/// Speedup over GPUs with intervals, the ideal line, and the fitted law with its band (log-log). The band holds the
/// baseline's own error where its runs have an interval.
Figure speedup_figure(const ScalingCurve& curve);
/// The same of the efficiency, in percent.
Figure efficiency_figure(const ScalingCurve& curve);
/// Lost step time of one row against the curve's baseline, part by part: a waterfall whose bars sum to the
/// row's lost_ns. Throws std::out_of_range where there is no such row.
Figure waterfall_figure(const ScalingCurve& curve, std::size_t row);

}  // namespace ddbench::analyzer
