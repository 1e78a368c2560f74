#include "analyzer/predict/what_if_figure.h"

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

}  // namespace

WhatIfCurve what_if_curve(const StepRecording& recording, CollectiveCosts costs, const WhatIfQuestion& question, int most_nodes,
                          double budget) {
  PredictOptions options;
  options.what_if = question.what_if;
  options.replicates = kReplicates;
  options.most_events = budget;
  options.other_network = question.changes_network();
  costs.scale_network(question.latency, question.per_byte);
  std::set<int> nodes = {recording.shape.nodes};
  for (int count = 1; count <= most_nodes; count *= 2) nodes.insert(count);
  WhatIfCurve curve;
  for (const int count : nodes) {
    auto predicted = predict_step(recording, costs, {count, recording.shape.gpus_per_node}, options);
    if (predicted) {
      curve.sizes.push_back(*std::move(predicted));
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
  figure.notes.insert(figure.notes.end(), recording.notes.begin(), recording.notes.end());
  return figure;
}

}  // namespace ddbench::analyzer
