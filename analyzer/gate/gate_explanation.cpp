#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyzer/gate/gate_steps.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

using Interval = Measured<ConfidenceInterval>;
using CollectiveKey =
    std::tuple<std::string, int, std::uint64_t, std::string>;  // function, bucket, bytes, communicator

std::optional<std::vector<RunPair>> pairs_of(const GateVerdict& verdict) {
  if (verdict.in_time != SidesInTime::kInterleaved) return std::nullopt;
  return interleaved_pairs(records_of(verdict.baseline.runs), records_of(verdict.candidate.runs));
}

bool all_partitioned(const std::vector<RunMeasures>& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const RunMeasures& run) { return run.partition.total_ns() > 0; });
}

std::vector<double> part_values(const std::vector<RunMeasures>& runs, store::StepPart part) {
  std::vector<double> values;
  for (const RunMeasures& run : runs) values.push_back(static_cast<double>(run.partition[part]));
  return values;
}

std::vector<PartChange> part_changes(const GateVerdict& verdict) {
  if (!all_partitioned(verdict.baseline.runs) || !all_partitioned(verdict.candidate.runs)) return {};
  const auto pairs = pairs_of(verdict);
  std::vector<PartChange> changes;
  for (int i = 0; i < store::kStepPartCount; ++i) {
    const auto part = static_cast<store::StepPart>(i);
    const MeanChange change = mean_change(part_values(verdict.baseline.runs, part),
                                          part_values(verdict.candidate.runs, part), pairs);
    changes.push_back({part, change.baseline, change.candidate, change.interval});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const PartChange& a, const PartChange& b) {
    return std::abs(a.change_ns()) > std::abs(b.change_ns());
  });
  return changes;
}

struct CollectiveValues {
  std::vector<double> transfer_ns;
  double calls_per_step = 0;
};

/// Collectives whose transfer is known in every run of the side.
std::map<CollectiveKey, CollectiveValues> collective_values(const std::vector<RunMeasures>& runs) {
  std::map<CollectiveKey, CollectiveValues> found;
  for (const RunMeasures& run : runs) {
    for (const CollectiveSummary& collective : run.collectives) {
      const store::CollectiveRecord& record = collective.record;
      const Measured<double> transfer_ns = carried_transfer_ns(collective);
      if (!transfer_ns) continue;
      CollectiveValues& values =
          found[{record.function, record.bucket, record.bytes, collective.communicator}];
      values.transfer_ns.push_back(*transfer_ns);
      if (run.probed_steps > 0) {
        values.calls_per_step +=
            static_cast<double>(record.count) / run.probed_steps / static_cast<double>(runs.size());
      }
    }
  }
  std::erase_if(found, [&](const auto& entry) { return entry.second.transfer_ns.size() != runs.size(); });
  return found;
}

std::vector<CollectiveChange> collective_changes(const GateVerdict& verdict) {
  const auto baseline = collective_values(verdict.baseline.runs);
  const auto candidate = collective_values(verdict.candidate.runs);
  const auto pairs = pairs_of(verdict);
  std::vector<CollectiveChange> changes;
  for (const auto& [key, values] : candidate) {
    const auto other = baseline.find(key);
    if (other == baseline.end()) continue;
    const MeanChange change = mean_change(other->second.transfer_ns, values.transfer_ns, pairs);
    const auto& [function, bucket, bytes, communicator] = key;
    changes.push_back({function, bucket, bytes, communicator, change.baseline, change.candidate,
                       values.calls_per_step, change.interval});
  }
  const auto weight = [](const CollectiveChange& change) {
    return std::abs(change.change_ns()) * std::max(1.0, change.calls_per_step);
  };
  std::stable_sort(changes.begin(), changes.end(), [&](const CollectiveChange& a, const CollectiveChange& b) {
    return weight(a) > weight(b);
  });
  return changes;
}

bool beyond_noise(const Interval& interval) {
  return interval && (interval->low > 0 || interval->high < 0);
}

std::string with_sign(double ns) { return fmt::format("{}{}", ns > 0 ? "+" : "", time_in_words(ns)); }

/// As field names, "exposed peer wait"; reports have the same words (reports/text/phrases.h).
std::string in_words(store::StepPart part) {
  if (part == store::StepPart::kCpuWait) return "CPU wait";
  std::string words(store::to_string(part));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string part_sentence(const PartChange& change, double step_change_ns) {
  std::string text = fmt::format("{} went from {} to {} a step", in_words(change.part),
                                 time_in_words(change.baseline_ns), time_in_words(change.candidate_ns));
  if (step_change_ns > 0 && change.change_ns() > 0) {
    text += fmt::format(", {:.0f}% of what the step got longer", 100 * change.change_ns() / step_change_ns);
  }
  if (const Interval& interval = change.change_interval) {
    text += fmt::format(" (95% CI of the change {} to {})", with_sign(interval->low), with_sign(interval->high));
  }
  return text;
}

std::string collective_sentence(const CollectiveChange& change) {
  const std::string which = change.bucket >= 0 ? fmt::format("bucket {}", change.bucket) : "a call";
  const std::string communicator = change.communicator.empty() ? "" : change.communicator + ", ";
  return fmt::format("{} of {} ({}{}) went from {} to {}", which, change.function, communicator,
                     quantity(static_cast<double>(change.bytes), "B"), time_in_words(change.baseline_ns),
                     time_in_words(change.candidate_ns));
}

bool slowed_down(const GateVerdict& verdict) {
  return std::any_of(verdict.metrics.begin(), verdict.metrics.end(), [](const MetricVerdict& metric) {
    return metric.outcome == GateOutcome::kRegression && metric.metric != RunMetric::kHostMemory &&
           metric.metric != RunMetric::kDeviceMemory;
  });
}

}  // namespace

void explain(GateVerdict& verdict) {
  verdict.parts = part_changes(verdict);
  verdict.collectives = collective_changes(verdict);
  if (!slowed_down(verdict)) return;
  double step_change_ns = 0;
  for (const PartChange& change : verdict.parts) step_change_ns += change.change_ns();
  constexpr std::size_t kMostParts = 2;
  constexpr double kLeastShare = 0.01;  // what is less would be shown as 0%
  for (const PartChange& change : verdict.parts) {
    if (verdict.explanation.size() == kMostParts) break;
    if (change.change_ns() < kLeastShare * step_change_ns || change.change_ns() <= 0 || !beyond_noise(change.change_interval)) continue;
    verdict.explanation.push_back(part_sentence(change, step_change_ns));
  }
  if (verdict.explanation.empty()) {
    verdict.explanation.push_back(verdict.parts.empty()
                                      ? "no step partition was recorded: which part moved is not known"
                                      : "no single part of the step moved beyond its run-to-run noise");
  }
  for (const CollectiveChange& change : verdict.collectives) {
    if (change.change_ns() <= 0 || !beyond_noise(change.change_interval)) continue;
    verdict.explanation.push_back(collective_sentence(change));
    break;
  }
}

}  // namespace ddbench::analyzer
