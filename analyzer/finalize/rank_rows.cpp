#include "analyzer/finalize/rank_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/attribution/partition.h"
#include "analyzer/attribution/rank_timeline.h"
#include "analyzer/finalize/cpu_wait.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

store::StepRecord step_record(RankTimeline& timeline, std::size_t window, const LastArrivals& arrivals,
                                     const std::optional<CpuWait>& cpu_wait) {
  const StepWindow& step = timeline.windows()[window];
  store::StepRecord record;
  record.step = step.step;
  record.begin_ns = step.begin_ns;
  record.duration_ns = step.end_ns - step.begin_ns;
  record.probes_on = step.probes_on;
  if (!step.probes_on) return record;
  PartitionedStep parts = partition_step(timeline.spans_in(window), step.begin_ns, step.end_ns, arrivals);
  if (cpu_wait) book_cpu_wait(*cpu_wait, parts);
  record.partition = parts.partition;
  record.communication_ns = parts.communication_ns;
  record.overlap_ns = parts.overlap_ns;
  record.peer_wait_ns = parts.peer_wait_ns;
  return record;
}

/// Adds a collective that both know.
void compare_waits(const Span& span, StepRange range, const LastArrivals& all_there_ns, const LastArrivals& arrivals,
                   RankRows& rows) {
  if (all_there_ns.empty() || span.kind != SpanKind::kCommunication || !range.holds(span.step)) return;
  const auto by_phases = all_there_ns.find(span.correlation);
  const auto by_clocks = arrivals.find(span.correlation);
  if (by_phases == all_there_ns.end() || by_clocks == arrivals.end()) return;
  rows.wait_by_phases_ns = add_ns(rows.wait_by_phases_ns, by_phases->second - span.begin_ns);
  rows.wait_by_clocks_ns = add_ns(rows.wait_by_clocks_ns, std::clamp<std::int64_t>(by_clocks->second - span.begin_ns, 0, span.duration_ns()));
}

}  // namespace

RankRows rank_rows(std::vector<Span> spans, StepRange range, const CollectiveJoin& join, std::size_t rank,
                   const ReportedValues& reported, const LastArrivals& all_there_ns) {
  RankTimeline timeline(std::move(spans));
  RankRows rows;
  rows.damaged_spans = timeline.damaged(range);
  LastArrivals arrivals = join.last_arrivals(rank);
  for (const Span& span : timeline.spans()) compare_waits(span, range, all_there_ns, arrivals, rows);
  for (const auto& [key, at_ns] : all_there_ns) arrivals[key] = at_ns;
  const auto uncertainties_ns = join.wait_uncertainties_ns(rank);
  for (std::size_t window = 0; window < timeline.windows().size(); ++window) {
    const StepWindow& step = timeline.windows()[window];
    if (!range.holds(step.step)) continue;
    const std::optional<CpuWait> cpu_wait = reported.cpu_wait(step.step);
    store::StepRecord& record = rows.records.emplace_back(step_record(timeline, window, arrivals, cpu_wait));
    record.loss = reported.loss(step.step);
    if (!step.probes_on) continue;
    if (cpu_wait) rows.with_cpu_wait.push_back(step.step);
    const auto uncertainty = uncertainties_ns.find(step.step);
    if (uncertainty != uncertainties_ns.end()) record.peer_wait_uncertainty_ns = uncertainty->second;
  }
  return rows;
}

}  // namespace ddbench::analyzer
