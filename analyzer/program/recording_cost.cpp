#include "analyzer/program/recording_cost.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/program_phase.h"

namespace ddbench::analyzer {
namespace {

// No hook takes that long, and sums of such values stay far from overflow.
constexpr std::uint64_t kMostOfAReading_ns = 3'600'000'000'000;

}  // namespace

std::vector<CostReading> take_recording_cost(ProgramRank& rank) {
  std::vector<CostReading> readings;
  std::erase_if(rank.spans, [&](const Span& span) {
    const std::string_view name = rank.names.at(span.name_id);
    if (span.kind != SpanKind::kHost || (name != kHookCost && name != kDrainCost)) return false;
    const auto ns = static_cast<std::int64_t>(std::min(span.bytes, kMostOfAReading_ns));
    readings.push_back({span.begin_ns, name == kHookCost ? ns : 0, name == kDrainCost ? ns : 0});
    return true;
  });
  return readings;
}

std::optional<RecordingCost> recording_cost(const std::vector<CostReading>& readings, std::span<const Span> spans,
                                            std::uint32_t first_counted) {
  ProgramWindows steps;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kStep && span.step >= first_counted) steps.push_back({span.begin_ns, span.end_ns});
  }
  if (steps.empty() || readings.empty()) return std::nullopt;
  std::sort(steps.begin(), steps.end(),
            [](const ProgramWindow& a, const ProgramWindow& b) { return a.begin_ns < b.begin_ns; });
  RecordingCost cost;
  for (const CostReading& reading : readings) {
    const auto after = std::upper_bound(steps.begin(), steps.end(), reading.at_ns,
                                        [](std::int64_t at, const ProgramWindow& step) { return at < step.begin_ns; });
    if (after == steps.begin() || reading.at_ns >= std::prev(after)->end_ns) continue;
    cost.hooks_ns += static_cast<double>(reading.hooks_ns);
    cost.drain_ns += static_cast<double>(reading.drain_ns);
  }
  const auto count = static_cast<double>(steps.size());
  return RecordingCost{cost.hooks_ns / count, cost.drain_ns / count};
}

}  // namespace ddbench::analyzer
