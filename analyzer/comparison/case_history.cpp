#include "analyzer/comparison/case_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/run/run_fields.h"
#include "analyzer/run/run_reference.h"
#include "analyzer/run/usable_runs.h"
#include "analyzer/statistics/change_points.h"
#include "core/run_case/program_files.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostEarlierRuns = 20;  // of a case: each costs a summary

std::vector<double> rates(std::span<const RunSummary> summaries) {
  std::vector<double> values;
  for (const RunSummary& summary : summaries) {
    if (summary.work_per_s) values.push_back(*summary.work_per_s);
  }
  return values;
}

/// Rates of the newest runs of a case, back to where their level last changed.
std::vector<double> earlier_rates(const store::RunStore& store, const std::vector<store::RunRecord>& all,
                                  const std::string& case_key, const ProgramFiles& files,
                                  const std::set<store::RunId>& compared) {
  std::vector<double> values;
  for (auto run = all.rbegin(); run != all.rend() && values.size() < kMostEarlierRuns; ++run) {
    const bool usable = run->state == store::RunState::kDone && run->valid && !compared.contains(run->id);
    if (!usable || defining_key(*run) != case_key) continue;
    if (!files.empty() && !changed_files(files, program_files(run->environment.facts)).empty()) continue;
    const RunSummary summary = summarize_briefly(store, *run);
    if (summary.work_per_s && *summary.work_per_s > 0) values.push_back(*summary.work_per_s);
  }
  std::vector<double> logarithms;  // newest first, as the values: a change of level is one either way
  for (const double value : values) logarithms.push_back(std::log(value));
  const std::vector<ChangePoint> changes = change_points(logarithms);
  if (!changes.empty()) values.resize(changes.front().index);
  return values;
}

}  // namespace

Measured<RunRatio> throughput_ratio(const store::RunStore& store, std::span<const RunSummary> numerator,
                                    std::span<const RunSummary> denominator) {
  const std::vector<double> above = rates(numerator);
  const std::vector<double> below = rates(denominator);
  Measured<RunRatio> ratio = measured_ratio(above, below);
  if (!ratio || ratio->interval) return ratio;
  std::set<store::RunId> compared;
  std::set<std::pair<std::string, ProgramFiles>> case_keys;
  for (const std::span<const RunSummary> side : {numerator, denominator}) {
    for (const RunSummary& summary : side) {
      compared.insert(summary.run.id);
      case_keys.emplace(defining_key(summary.run), program_files(summary.run.environment.facts));
    }
  }
  const std::vector<store::RunRecord> all = runs_where(store, {});
  RunSpread spread;
  std::size_t earlier_runs = 0;
  for (const auto& [key, files] : case_keys) {
    const std::vector<double> earlier = earlier_rates(store, all, key, files, compared);
    spread.add(earlier);
    earlier_runs += earlier.size();
  }
  if (spread.degrees_of_freedom < 2) return ratio;  // the compared runs alone are too few to show their own scatter
  spread.add(above);
  spread.add(below);
  return ratio_with_spread(above, below, spread, fmt::format("{} other runs of the same case", earlier_runs));
}

}  // namespace ddbench::analyzer
