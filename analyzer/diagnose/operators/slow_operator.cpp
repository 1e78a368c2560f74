#include "analyzer/diagnose/operators/slow_operator.h"

#include <algorithm>
#include <map>

#include "analyzer/attribution/summarize_step.h"
#include "analyzer/diagnose/operators/compute_by_name.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr double kLeastShare = 0.5;

std::map<std::string, std::vector<double>> times_on(const store::RunStore& store, const store::RunId& run,
                                                    std::span<const int> ranks, std::span<const std::uint32_t> steps) {
  std::map<std::string, std::vector<double>> times;
  std::size_t seen = 0;
  for (const int rank : ranks) {
    for (const auto& [name, time_ns] : compute_by_name(store, run, rank, steps)) {
      times[name].resize(seen);
      times[name].push_back(time_ns);
    }
    ++seen;
  }
  for (auto& [name, each] : times) each.resize(seen);
  return times;
}

}  // namespace

std::optional<SlowOperator> find_slow_operator(const store::RunStore& store, const store::RunId& run,
                                               std::span<const int> ranks, std::span<const int> others,
                                               std::span<const std::uint32_t> steps) {
  if (ranks.empty() || others.empty() || steps.empty()) return std::nullopt;
  const auto theirs = times_on(store, run, ranks, steps);
  const auto usual = times_on(store, run, others, steps);
  if (theirs.contains(std::string(kReducedName)) || usual.contains(std::string(kReducedName))) return std::nullopt;
  SlowOperator found;
  double excess_ns = 0;
  double most_ns = 0;
  for (const auto& [name, times] : theirs) {
    const auto at = usual.find(name);
    const double usual_ns = at == usual.end() ? 0 : median(at->second);
    const double more_ns = mean(times) - usual_ns;
    excess_ns += std::max(0.0, more_ns);
    if (more_ns <= most_ns) continue;
    most_ns = more_ns;
    found.name = name;
    found.slower = usual_ns > 0 ? more_ns / usual_ns : 0;
  }
  found.steps = steps.size();
  found.share = excess_ns > 0 ? most_ns / excess_ns : 0;
  if (found.share < kLeastShare) return std::nullopt;
  return found;
}

}  // namespace ddbench::analyzer
