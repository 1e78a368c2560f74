#include "analyzer/gate/gate_baselines.h"

#include <fmt/format.h>

#include "analyzer/comparison/comparability.h"
#include "analyzer/gate/gate_steps.h"
#include "analyzer/run/run_reference.h"
#include "core/error.h"

namespace ddbench::analyzer {

store::NamedBaseline set_baseline(store::RunStore& store, std::string_view name, std::string_view reference) {
  const ResolvedReference resolved = resolve_reference(store, reference);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("\"{}\" cannot become the baseline {}: {}", reference, name, why));
  };
  if (resolved.runs.empty()) refuse(resolved.missing);
  for (const store::RunRecord& run : resolved.runs) {
    const std::string why = unusable(run);
    if (why.empty()) continue;
    refuse(
        fmt::format("run {} {} (a reference with state=done,valid=true leaves such runs out)", run.id, why));
  }
  const Comparability alike = compare_sides(resolved.runs, resolved.runs, {});
  if (!alike.reasons.empty()) refuse(alike.reasons.front());
  std::vector<store::RunId> ids;
  for (const store::RunRecord& run : resolved.runs) ids.push_back(run.id);
  return store.add_baseline(name, reference, ids);
}

}  // namespace ddbench::analyzer
