#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "core/facts/facts.h"
#include "core/measured.h"
#include "core/run_case/learning_rate.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {

/// The step values (RunStore::step_values, rank 0) of programs whose learning rate was recorded.
inline constexpr std::string_view kLearningRate = "learning_rate";

/// The learning rate that a run applied: of a reference workload after the warm-up (settled_learning_rate), of a program in its last
/// step, where its optimizer or itself reported it. Missing for all others.
inline Measured<double> applied_learning_rate(const store::RunRecord& run) {
  using Missing = Measured<double>;
  if (run.provenance.has(Provenance::kImported)) return Missing::missing("imported runs do not have it");
  if (is_reference(run.run_case)) return settled_learning_rate(run.run_case);
  if (!is_program(run.run_case)) return Missing::missing("nothing is trained");
  if (const auto rate = get_fact(run.environment.facts, fact_key<"program.learning_rate">)) return *rate;
  return Missing::missing("the program has no optimizer of torch.optim, and did not report it (ddbench.learning_rate())");
}

/// What a program applied by step; empty for others, and where it was not recorded.
inline std::vector<std::pair<std::uint32_t, double>> recorded_learning_rates(const store::RunStore& store,
                                                                      const store::RunRecord& run) {
  if (!is_program(run.run_case)) return {};
  return store.step_values(run.id, 0, kLearningRate);
}

}  // namespace ddbench::analyzer
