#include "harness/experiment/run/baseline.h"
#include "core/facts/facts.h"

namespace ddbench::experiment {

std::optional<store::RunRecord> find_baseline(const store::RunStore& store, const RunCase& baseline,
                                              const std::string& fingerprint, bool elsewhere) {
  store::Query query;
  query.state = store::RunState::kDone;
  query.case_key = case_key(baseline);
  if (!elsewhere) query.fingerprint = fingerprint;
  for (store::RunRecord& run : store.runs(query)) {
    const auto launched_from = get_fact(run.environment.facts, fact_key<"launched_from.fingerprint">);
    const bool is_there = launched_from && *launched_from == fingerprint;
    if (run.valid && (is_there || !elsewhere)) return std::move(run);
  }
  return std::nullopt;
}

}  // namespace ddbench::experiment
