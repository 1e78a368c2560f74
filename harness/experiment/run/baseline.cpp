#include "harness/experiment/run/baseline.h"

namespace ddbench::experiment {

std::optional<store::RunRecord> find_baseline(const store::RunStore& store, const RunCase& baseline,
                                              const std::string& fingerprint, bool elsewhere) {
  store::Query query;
  query.state = store::RunState::kDone;
  query.case_key = case_key(baseline);
  if (!elsewhere) query.fingerprint = fingerprint;
  for (store::RunRecord& run : store.runs(query)) {
    const auto& facts = run.environment.facts;
    const auto launched_from = facts.find(kFactLaunchedFrom);
    const bool is_there = launched_from != facts.end() && launched_from->second == fingerprint;
    if (run.valid && (is_there || !elsewhere)) return std::move(run);
  }
  return std::nullopt;
}

}  // namespace ddbench::experiment
