#include "analyzer/batch/batch_figures.h"

#include <fmt/format.h>

#include <map>

#include "analyzer/run/gpu_count.h"

namespace ddbench::analyzer {

Figure time_to_target_figure(const BatchCurve& curve) {
  Figure figure;
  figure.title = "Time to the target over the batch";
  figure.x = {"global batch", "samples", true};
  figure.y = {"time to the target", "s", true};
  std::map<int, Series> by_gpus;
  for (const BatchRow& row : curve.rows) {
    if (!row.time_s) {
      figure.notes.push_back(fmt::format("a batch of {} on {} has no point: {}", row.global_batch,
                                         gpus(row.world_size), row.time_s.reason()));
      continue;
    }
    Series& series = by_gpus[row.world_size];
    series.name = gpus(row.world_size);
    series.shape = SeriesShape::kLine;
    series.points.push_back({static_cast<double>(row.global_batch), *row.time_s, {}, {}});
    series.provenance = ProvenanceSet::from_bits(series.provenance.bits() | row.provenance.bits());
  }
  for (auto& [gpus, series] : by_gpus) figure.series.push_back(std::move(series));
  if (figure.series.empty()) figure.notes.insert(figure.notes.begin(), "no run came down to a target loss");
  return figure;
}

}  // namespace ddbench::analyzer
