#include "analyzer/finalize/program_cpu_wait.h"

#include <algorithm>
#include <string_view>

#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

bool is_reading(const Span& span, std::string_view name) {
  return span.kind == SpanKind::kHost && (name == kCpuWaitMain || name == kCpuWaitCommunication);
}

CpuWaitReading reading_of(const Span& span, std::string_view name) {
  const auto most_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(span.duration_ns(), 0));
  const auto wait_ns = static_cast<std::int64_t>(std::min(span.bytes, most_ns));
  CpuWaitReading reading{span.begin_ns, span.end_ns, {}};
  (name == kCpuWaitMain ? reading.wait.main_ns : reading.wait.communication_ns) = wait_ns;
  return reading;
}

/// `wait_ns` * part / whole; a reading that has a wait has a length.
std::int64_t share(std::int64_t wait_ns, std::int64_t part_ns, std::int64_t whole_ns) {
  return static_cast<std::int64_t>(static_cast<__int128>(wait_ns) * part_ns / whole_ns);
}

std::vector<Span> steps_in_order(const std::vector<Span>& spans) {
  std::vector<Span> steps;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kStep && span.bucket == kNoBucket) steps.push_back(span);
  }
  std::sort(steps.begin(), steps.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  return steps;
}

}  // namespace

std::optional<std::vector<CpuWaitReading>> take_cpu_wait(ProgramRank& rank) {
  std::vector<CpuWaitReading> readings;
  const std::size_t before = rank.spans.size();
  std::erase_if(rank.spans, [&](const Span& span) {
    const std::string_view name = rank.names.at(span.name_id);
    if (!is_reading(span, name)) return false;
    if (span.bytes > 0 && span.duration_ns() > 0) readings.push_back(reading_of(span, name));
    return true;
  });
  if (rank.spans.size() == before) return std::nullopt;
  return readings;
}

std::map<std::uint32_t, CpuWait> cpu_wait_of_steps(const std::vector<CpuWaitReading>& readings,
                                                   const std::vector<Span>& spans) {
  const std::vector<Span> steps = steps_in_order(spans);
  std::map<std::uint32_t, CpuWait> waits;
  for (const Span& step : steps) waits[step.step];
  for (const CpuWaitReading& reading : readings) {
    auto step = std::partition_point(steps.begin(), steps.end(),
                                     [&](const Span& span) { return span.end_ns <= reading.begin_ns; });
    for (; step != steps.end() && step->begin_ns < reading.end_ns; ++step) {
      const std::int64_t inside_ns =
          std::min(step->end_ns, reading.end_ns) - std::max(step->begin_ns, reading.begin_ns);
      CpuWait& wait = waits[step->step];
      const std::int64_t whole_ns = reading.end_ns - reading.begin_ns;
      wait.main_ns = add_ns(wait.main_ns, share(reading.wait.main_ns, inside_ns, whole_ns));
      wait.communication_ns =
          add_ns(wait.communication_ns, share(reading.wait.communication_ns, inside_ns, whole_ns));
    }
  }
  return waits;
}

}  // namespace ddbench::analyzer
