#include "analyzer/diagnose/operators/operator_change.h"

#include <algorithm>

#include "analyzer/diagnose/operators/compute_by_name.h"

namespace ddbench::analyzer {

std::optional<OperatorChange> find_operator_change(const store::RunStore& store, const StepsOfRun& before, const StepsOfRun& after) {
  const auto usual = mean_compute_by_name(store, before.run, before.ranks, before.steps);
  const auto now = mean_compute_by_name(store, after.run, after.ranks, after.steps);
  if (usual.empty() || now.empty()) return std::nullopt;
  OperatorChange found;
  double longer_ns = 0;
  double usual_ns = 0;
  double now_ns = 0;
  for (const auto& [name, ns] : now) {
    const auto at = usual.find(name);
    const double more_ns = ns - (at == usual.end() ? 0 : at->second);
    longer_ns += std::max(0.0, more_ns);
    now_ns += ns;
    if (more_ns <= found.excess_ns) continue;
    found.name = name;
    found.excess_ns = more_ns;
    found.slower = at != usual.end() && at->second > 0 ? more_ns / at->second : 0;
  }
  if (longer_ns <= 0) return std::nullopt;
  for (const auto& [name, ns] : usual) usual_ns += ns;
  const auto at = usual.find(found.name);
  const double others_ns = usual_ns - (at == usual.end() ? 0 : at->second);
  found.others_slower = others_ns > 0 ? (now_ns - now.at(found.name)) / others_ns - 1 : 0;
  found.share = found.excess_ns / longer_ns;
  return found;
}

}  // namespace ddbench::analyzer
