#include "ddbench/experiment/baseline.h"

namespace ddbench::experiment {

std::optional<store::RunRecord> find_baseline(const store::RunStore& store, const RunCase& baseline,
                                              const std::string& fingerprint) {
  store::Query query;
  query.state = store::RunState::kDone;
  query.case_key = case_key(baseline);
  query.fingerprint = fingerprint;
  for (store::RunRecord& run : store.runs(query)) {
    if (run.valid) return std::move(run);
  }
  return std::nullopt;
}

}  // namespace ddbench::experiment
