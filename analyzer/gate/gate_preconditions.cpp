#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyzer/gate/gate_steps.h"

namespace ddbench::analyzer {
namespace {

void check_side(std::string_view name, const GateSide& side, int least, std::vector<std::string>& reasons) {
  if (side.runs.empty()) {
    reasons.push_back(fmt::format("the {} \"{}\" has no runs: {}", name, side.reference,
                                  side.missing.empty() ? "nothing matches it" : side.missing));
    return;
  }
  for (const RunMeasures& run : side.runs) {
    const std::string why = unusable(run.run);
    if (why.empty()) continue;
    reasons.push_back(
        fmt::format("run {} of the {} {} (a reference with state=done,valid=true leaves such runs out)",
                    run.run.id, name, why));
  }
  if (static_cast<int>(side.runs.size()) < least) {
    reasons.push_back(fmt::format("{} run{} of the {}: {} or more a side are needed (min_pairs)",
                                  side.runs.size(), side.runs.size() == 1 ? "" : "s", name, least));
  }
}

void check_shared_runs(const GateVerdict& verdict, std::vector<std::string>& reasons) {
  for (const RunMeasures& run : verdict.baseline.runs) {
    const bool shared = std::any_of(verdict.candidate.runs.begin(), verdict.candidate.runs.end(),
                                    [&](const RunMeasures& other) { return other.run.id == run.run.id; });
    if (!shared) continue;
    reasons.push_back(fmt::format("run {} is on both sides: there is nothing to compare", run.run.id));
    return;
  }
}

}  // namespace

std::string unusable(const store::RunRecord& run) {
  if (run.state == store::RunState::kRunning) return "is still running";
  if (run.state != store::RunState::kDone) {
    return fmt::format(
        "{}{}{}",
        run.state == store::RunState::kFailed ? "failed" : fmt::format("was {}", to_string(run.state)),
        run.reason.empty() ? "" : ": ", run.reason);
  }
  if (!run.valid) return fmt::format("is invalid: {}", run.invalid_reason);
  return {};
}

void check_sides(GateVerdict& verdict) {
  const int least = verdict.policy.min_pairs;
  check_side("baseline", verdict.baseline, least, verdict.reasons);
  check_side("candidate", verdict.candidate, least, verdict.reasons);
  if (verdict.baseline.runs.empty() || verdict.candidate.runs.empty()) return;
  check_shared_runs(verdict, verdict.reasons);
  Comparability comparability = compare_sides(records_of(verdict.baseline.runs),
                                              records_of(verdict.candidate.runs), verdict.policy.vary);
  verdict.compared = std::move(comparability.compared);
  std::move(comparability.reasons.begin(), comparability.reasons.end(), std::back_inserter(verdict.reasons));
}

void drop_other_history(GateSide& side) {
  if (side.runs.empty()) return;
  std::erase_if(side.earlier, [&](const RunMeasures& run) {
    const std::vector<store::RunRecord> both{side.runs.front().run, run.run};
    return !unusable(run.run).empty() || !compare_sides({&both[0], 1}, {&both[1], 1}, {}).reasons.empty();
  });
}

}  // namespace ddbench::analyzer
