#include "analyzer/diagnose/live/live_cause.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/statistics/statistics.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr double kHasMost = 0.6;

/// Mean of the named above the median of the others.
double excess_of(const std::vector<OwnTimeOfStep>& named, const std::vector<OwnTimeOfStep>& others, double OwnTimeOfStep::*part) {
  double sum = 0;
  for (const OwnTimeOfStep& each : named) sum += each.*part / static_cast<double>(named.size());
  std::vector<double> usual;
  for (const OwnTimeOfStep& each : others) usual.push_back(each.*part);
  return sum - median(std::move(usual));
}

}  // namespace

std::optional<OwnTimeOfStep> own_time_of_step(const LiveOwnTime& before, const LiveOwnTime& after) {
  if (after.steps <= before.steps) return std::nullopt;
  const auto steps = static_cast<double>(after.steps - before.steps);
  OwnTimeOfStep own;
  own.compute_known = before.compute_ns >= 0 && after.compute_ns >= before.compute_ns;
  own.cpu_wait = static_cast<double>(after.cpu_wait_ns - before.cpu_wait_ns) / steps;
  own.data = static_cast<double>(after.data_ns - before.data_ns) / steps;
  if (own.compute_known) own.compute = std::max(0.0, static_cast<double>(after.compute_ns - before.compute_ns) / steps - own.cpu_wait);
  return own;
}

std::string why_in_words(const std::vector<OwnTimeOfStep>& named, const std::vector<OwnTimeOfStep>& others, double excess_ns) {
  if (named.empty() || others.empty() || excess_ns <= 0) return "";
  const bool one = named.size() == 1;
  const double compute = excess_of(named, others, &OwnTimeOfStep::compute);
  const double cpu_wait = excess_of(named, others, &OwnTimeOfStep::cpu_wait);
  const double data = excess_of(named, others, &OwnTimeOfStep::data);
  const auto is_known = [](const OwnTimeOfStep& each) { return each.compute_known; };
  const bool all_known = std::all_of(named.begin(), named.end(), is_known) && std::all_of(others.begin(), others.end(), is_known);
  const auto cause_text = [&](const char* of_one, const char* of_many, double part) {
    return fmt::format("; {} {}: {} a step longer than the others", one ? "it" : "they", one ? of_one : of_many, quantity(part, "ns"));
  };
  if (cpu_wait >= kHasMost * excess_ns) return cause_text("waits for a core", "wait for cores", cpu_wait);
  if (data >= kHasMost * excess_ns) return cause_text("waits for its data loader", "wait for their data loaders", data);
  if (!all_known) return "";
  if (compute >= kHasMost * excess_ns) return cause_text("computes longer", "compute longer", compute);
  const double rest = excess_ns - std::max(0.0, compute) - std::max(0.0, cpu_wait) - std::max(0.0, data);
  if (rest >= kHasMost * excess_ns) return cause_text("is busy between operators", "are busy between operators", rest);
  return "";
}

}  // namespace ddbench::analyzer
