#include "analyzer/predict/what_if_figure.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kReplicates = 4;

Series series_of(const char* name, const WhatIfCurve& curve) {
  Series series{name, SeriesShape::kLine, {}, {}};
  series.provenance.add(Provenance::kPredicted);
  for (const ReplayPrediction& size : curve.sizes)
    series.points.push_back({size.shape.gpus(), size.samples_per_s.value, size.samples_per_s.interval, {}});
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
  figure.y = {"throughput", "samples/s", true};
  Series recorded{"recorded", SeriesShape::kPoints, {}, {}};
  recorded.provenance.add(Provenance::kMeasured);
  recorded.points.push_back(
      {recording.shape.gpus(), recording.samples_per_rank * recording.shape.gpus() * 1e9 / recording.step_ns, {}, {}});
  figure.series = {series_of("as it was", unchanged), series_of("with the changes", changed), std::move(recorded)};
  figure.notes = changed.not_known;
  figure.notes.insert(figure.notes.end(), recording.notes.begin(), recording.notes.end());
  return figure;
}

}  // namespace ddbench::analyzer
