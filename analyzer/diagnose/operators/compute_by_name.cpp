#include "analyzer/diagnose/operators/compute_by_name.h"

#include <algorithm>

#include "analyzer/attribution/summarize_step.h"

namespace ddbench::analyzer {

TimeByName compute_by_name(const store::RunStore& store, const store::RunId& run, int rank, std::span<const std::uint32_t> steps) {
  const std::vector<std::string> names = store.span_names(run, rank);
  TimeByName time;
  for (const std::uint32_t step : steps) {
    for (const Span& span : store.spans(run, rank, step, step)) {
      if (!is_compute(span.kind) || span.end_ns < span.begin_ns || span.name_id >= names.size()) continue;
      time[names[span.name_id]] += static_cast<double>(span.duration_ns());
    }
  }
  return time;
}

TimeByName mean_compute_by_name(const store::RunStore& store, const store::RunId& run, std::span<const int> ranks,
                                std::span<const std::uint32_t> steps) {
  TimeByName mean;
  const double each = 1.0 / static_cast<double>(std::max<std::size_t>(1, ranks.size() * steps.size()));
  for (const int rank : ranks) {
    for (const auto& [name, ns] : compute_by_name(store, run, rank, steps)) mean[name] += each * ns;
  }
  if (mean.contains(std::string(kReducedName))) mean.clear();
  return mean;
}

}  // namespace ddbench::analyzer
