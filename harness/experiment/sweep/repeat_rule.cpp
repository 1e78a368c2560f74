#include "harness/experiment/sweep/repeat_rule.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "analyzer/statistics/statistics.h"
#include "core/text/quantity.h"

namespace ddbench::experiment {

static_assert(kFewestRepeats >= static_cast<int>(analyzer::kFewestRuns));

std::optional<RepeatEnd> end_of_repeats(std::span<const double> step_times_ns, double margin) {
  const int runs = static_cast<int>(step_times_ns.size());
  if (runs < kFewestRepeats) return std::nullopt;
  RepeatEnd end{runs, std::numeric_limits<double>::infinity(), false};
  if (const auto mean = analyzer::mean_of_runs(step_times_ns))
    end.half_width = (mean->interval.high - mean->interval.low) / 2 / mean->value;
  end.reached = end.half_width <= margin;
  if (!end.reached && runs < kMostRepeats) return std::nullopt;
  return end;
}

std::string to_words(const RepeatEnd& end, double margin) {
  const std::string known = std::isfinite(end.half_width) ? "half-width between runs " + uncertainty(100 * end.half_width) + "%" : "no interval";
  return fmt::format("{} runs{}: {} (goal {:.3g}%)", end.runs, end.reached ? "" : ", the most of --repeat auto", known, 100 * margin);
}

}  // namespace ddbench::experiment
