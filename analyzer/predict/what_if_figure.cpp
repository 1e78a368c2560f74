#include "analyzer/predict/what_if_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kReplicates = 4;

/// Steps of all ranks as steps, where samples are not known.
double shown(const StepRecording& recording, double samples_per_s, double ranks) {
  return recording.counts_samples ? samples_per_s : samples_per_s / ranks;
}

Series series_of(const char* name, const StepRecording& recording, const WhatIfCurve& curve) {
  Series series{name, SeriesShape::kLine, {}, {}};
  series.provenance.add(Provenance::kPredicted);
  for (const ReplayPrediction& size : curve.sizes) {
    const double ranks = size.shape.gpus();
    ConfidenceInterval interval = size.samples_per_s.interval;
    interval.low = shown(recording, interval.low, ranks);
    interval.high = shown(recording, interval.high, ranks);
    series.points.push_back({ranks, shown(recording, size.samples_per_s.value, ranks), std::move(interval), {}});
  }
  return series;
}

void scale(Estimate& estimate, double factor) {
  estimate.value *= factor;
  estimate.interval.low *= factor;
  estimate.interval.high *= factor;
}

/// On the recorded size the figure has the replay with recorded transfers. Modelled ones have a bias of their own, which must
/// not look like part of the change, so this is the change over a replay without it and with modelled transfers.
ReplayPrediction related_to_recorded(const StepRecording& recording, const CollectiveCosts& costs, PredictOptions options,
                                     ReplayPrediction changed) {
  options.what_if = {};
  options.other_network = false;
  const auto recorded = predict_step(recording, costs, recording.shape, options);
  options.other_network = true;
  const auto modelled = predict_step(recording, costs, recording.shape, options);
  if (!recorded || !modelled) return changed;
  const double factor = recorded->step_ns.value / modelled->step_ns.value;
  scale(changed.step_ns, factor);
  scale(changed.samples_per_s, 1 / factor);
  return changed;
}

}  // namespace

WhatIfCurve what_if_curve(const StepRecording& recording, const CollectiveCosts& costs, const WhatIfQuestion& question, int most_nodes,
                          double budget) {
  PredictOptions options;
  options.what_if = question.what_if;
  options.replicates = kReplicates;
  options.most_events = budget;
  options.other_network = question.changes_network();
  CollectiveCosts scaled = costs;
  scaled.scale_network(question.latency, question.per_byte);
  std::set<int> nodes = {recording.shape.nodes};
  for (int count = 1; count <= most_nodes; count *= 2) nodes.insert(count);
  WhatIfCurve curve;
  for (const int count : nodes) {
    const auto predicted = predict_step(recording, scaled, {count, recording.shape.gpus_per_node}, options);
    if (predicted && predicted->is_modelled) options.modelled_ratio = predicted->replay_over_recorded;  // of the recording alone
    if (predicted && predicted->is_modelled && count == recording.shape.nodes) {
      curve.sizes.push_back(related_to_recorded(recording, costs, options, *predicted));
    } else if (predicted) {
      curve.sizes.push_back(*predicted);
    } else if (std::find(curve.not_known.begin(), curve.not_known.end(), predicted.reason()) == curve.not_known.end()) {
      curve.not_known.push_back(predicted.reason());
    }
  }
  return curve;
}

Figure what_if_figure(const StepRecording& recording, const WhatIfCurve& unchanged, const WhatIfCurve& changed) {
  Figure figure;
  figure.title = "Predicted throughput";
  figure.x = {"GPUs", "1", true};
  figure.y = {"throughput", recording.counts_samples ? "samples/s" : "steps/s", true};
  Series recorded{"recorded", SeriesShape::kPoints, {}, {}};
  recorded.provenance.add(Provenance::kMeasured);
  const double ranks = recording.shape.gpus();
  recorded.points.push_back(
      {ranks, shown(recording, recording.samples_per_rank * ranks * 1e9 / recording.step_ns, ranks), {}, {}});
  figure.series = {series_of("as it was", recording, unchanged), series_of("with the changes", recording, changed),
                   std::move(recorded)};
  figure.notes = changed.not_known;
  for (const WhatIfCurve* curve : {&unchanged, &changed}) {
    const auto modelled = std::find_if(curve->sizes.begin(), curve->sizes.end(), [](const auto& size) { return size.is_modelled; });
    if (modelled == curve->sizes.end()) continue;
    figure.notes.push_back(fmt::format(
        "collectives of other sizes and networks are modelled: a replay of the run with the mean transfer of each is off by {:+.1f}%",
        100 * (modelled->replay_over_recorded - 1)));
    break;
  }
  figure.notes.insert(figure.notes.end(), recording.notes.begin(), recording.notes.end());
  return figure;
}

}  // namespace ddbench::analyzer
