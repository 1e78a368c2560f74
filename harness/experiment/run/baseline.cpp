#include "harness/experiment/run/baseline.h"

#include <utility>

#include "core/facts/facts.h"
#include "core/run_case/program_files.h"

namespace ddbench::experiment {

std::optional<store::RunRecord> find_baseline(const store::RunStore& store, const RunCase& baseline,
                                              const std::string& fingerprint, bool elsewhere) {
  store::Query query;
  query.state = store::RunState::kDone;
  query.case_key = case_key(baseline);
  if (!elsewhere) query.fingerprint = fingerprint;
  std::optional<store::RunRecord> of_edited_script;
  for (store::RunRecord& run : store.runs(query)) {
    const auto launched_from = get_fact(run.environment.facts, fact_key<"launched_from.fingerprint">);
    const bool is_there = launched_from && *launched_from == fingerprint;
    if (!run.valid || (elsewhere && !is_there)) continue;
    const bool is_edited = !elsewhere && !files_changed_since(run.environment.facts).empty();
    if (!is_edited) return std::move(run);
    if (!of_edited_script) of_edited_script = std::move(run);
  }
  return of_edited_script;
}

}  // namespace ddbench::experiment
