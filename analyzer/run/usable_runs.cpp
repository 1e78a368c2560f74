#include "analyzer/run/usable_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ddbench::analyzer {
namespace {

std::string reason_against(const store::RunRecord& run, const RunSummary* summary) {
  if (!run.valid) return "invalid: " + run.invalid_reason;
  if (run.state != store::RunState::kDone)
    return fmt::format("{}: {}", store::to_string(run.state), run.reason);
  return summary == nullptr ? "" : summary->work_per_s.reason();
}

bool all_positive(std::span<const double> values) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; });
}

}  // namespace

std::vector<RunSummary> usable_summaries(const store::RunStore& store, std::span<const store::RunRecord> runs,
                                         Figures needed, std::vector<std::string>& notes) {
  std::vector<RunSummary> summaries;
  for (const store::RunRecord& run : runs) {
    std::string reason = reason_against(run, nullptr);
    if (reason.empty()) {
      RunSummary summary = summarize_briefly(store, run);
      if (summary.work_per_s || (needed == Figures::kAnything && !summary.collectives.empty())) {
        summaries.push_back(std::move(summary));
        continue;
      }
      reason = reason_against(run, &summary);
    }
    notes.push_back(fmt::format("run {} is left out: {}", run.id, reason));
  }
  return summaries;
}

Measured<double> geometric_mean(std::span<const double> values, const char* reason) {
  if (!all_positive(values)) return Measured<double>::missing(reason);
  if (values.size() == 1) return values.front();  // without the rounding of a logarithm
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Measured<RunRatio> measured_ratio(std::span<const double> numerator, std::span<const double> denominator) {
  if (!all_positive(numerator) || !all_positive(denominator)) {
    return Measured<RunRatio>::missing("not above 0 on both sides");
  }
  return ratio_of_runs(numerator, denominator);
}

}  // namespace ddbench::analyzer
