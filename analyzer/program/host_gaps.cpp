#include "analyzer/program/host_gaps.h"
#include "core/span_limits.h"

#include <algorithm>

namespace ddbench::analyzer {
namespace {

HostGap gap_of(ProgramPhase phase) {
  switch (phase) {
    case ProgramPhase::kForward: return HostGap::kForward;
    case ProgramPhase::kBackward: return HostGap::kBackward;
    case ProgramPhase::kOptimizer:
    case ProgramPhase::kOptimizerCall:
    case ProgramPhase::kZeroGrad: return HostGap::kOptimizer;
    default: return HostGap::kElsewhere;
  }
}

/// What the spans leave open of the steps; ascending, disjoint.
ProgramWindows open_windows(std::span<const Span> spans, const ProgramWindows& steps, std::size_t first_counted) {
  ProgramWindows covered;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kHost && span.kind != SpanKind::kStep && span.end_ns > span.begin_ns)
      covered.push_back({span.begin_ns, span.end_ns});
  }
  std::sort(covered.begin(), covered.end(),
            [](const ProgramWindow& a, const ProgramWindow& b) { return a.begin_ns < b.begin_ns; });
  ProgramWindows open;
  auto next = covered.begin();
  std::int64_t covered_ns = 0;  // all before it is covered, or looked at
  for (std::size_t i = first_counted; i < steps.size(); ++i) {
    std::int64_t at_ns = steps[i].begin_ns;
    while (at_ns < steps[i].end_ns) {
      while (next != covered.end() && next->begin_ns <= at_ns) covered_ns = std::max(covered_ns, (next++)->end_ns);
      at_ns = std::max(at_ns, covered_ns);
      const std::int64_t end_ns = next != covered.end() ? std::min(next->begin_ns, steps[i].end_ns) : steps[i].end_ns;
      if (end_ns > at_ns) open.push_back({at_ns, end_ns});
      at_ns = std::max(at_ns, end_ns);
    }
  }
  return open;
}

}  // namespace

std::array<std::int64_t, 4> host_gaps(std::span<const Span> spans, const std::vector<PhaseSegment>& phases,
                                      const ProgramWindows& steps, std::size_t first_counted) {
  std::array<std::int64_t, 4> ns{};
  const auto add = [&](HostGap gap, std::int64_t begin_ns, std::int64_t end_ns) {
    if (end_ns > begin_ns) ns[static_cast<std::size_t>(gap)] = add_ns(ns[static_cast<std::size_t>(gap)], end_ns - begin_ns);
  };
  auto first = phases.begin();
  for (const ProgramWindow& gap : open_windows(spans, steps, first_counted)) {
    while (first != phases.end() && first->end_ns <= gap.begin_ns) ++first;
    std::int64_t at_ns = gap.begin_ns;
    for (auto phase = first; phase != phases.end() && phase->begin_ns < gap.end_ns; ++phase) {
      add(HostGap::kElsewhere, at_ns, phase->begin_ns);
      add(gap_of(phase->phase), std::max(at_ns, phase->begin_ns), std::min(phase->end_ns, gap.end_ns));
      at_ns = std::max(at_ns, std::min(phase->end_ns, gap.end_ns));
    }
    add(HostGap::kElsewhere, at_ns, gap.end_ns);
  }
  return ns;
}

}  // namespace ddbench::analyzer
