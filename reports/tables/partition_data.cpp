#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/run_case/program_case.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"
#include "reports/text/shown_parts.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;
using store::StepPart;

std::vector<std::int64_t> values_of(const store::StepPartition& partition) {
  return {partition.ns.begin(), partition.ns.end()};
}

/// Parts that most runs do not have, and parts that cannot be separated in a program, are left out when they
/// are zero.
bool is_shown(const RunCase& run_case, StepPart part, std::int64_t value_ns) {
  if (value_ns != 0) return true;
  if (!is_program(run_case)) return part != StepPart::kOtherCompute && part != StepPart::kCopy;
  return part == StepPart::kOtherCompute || part == StepPart::kExposedTransfer ||
         part == StepPart::kExposedPeerWait || part == StepPart::kHost;
}

CellTone tone_of(StepPart part) {
  if (static_cast<int>(part) <= static_cast<int>(StepPart::kOtherCompute)) return CellTone::kGood;
  const bool communication = part == StepPart::kExposedTransfer || part == StepPart::kExposedPeerWait;
  return communication ? CellTone::kBad : CellTone::kWarning;
}

}  // namespace

DataTable partition_data(const RunSummary& summary) {
  const std::int64_t total_ns = summary.partition.total_ns();
  DataTable table;
  if (total_ns <= 0) return table;
  table.caption = "Where a step goes";
  table.detail =
      fmt::format("mean over {} rank{} and {} of {} steps (probes on)", summary.ranks.size(),
                  summary.ranks.size() == 1 ? "" : "s", count_in_words(summary.probed_steps),
                  count_in_words(summary.measured_steps));
  table.columns = {{"part"}, {"time", true}, {"of the step", true}};
  const std::vector<std::int64_t> parts = values_of(summary.partition);
  const TimeScale scale(total_ns);
  const std::vector<std::string> times = scale.show(parts, false);
  const std::vector<std::string> shares = shown_percents(parts, total_ns);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = static_cast<StepPart>(i);
    if (!is_shown(summary.run.run_case, part, parts[i])) continue;
    const auto value = static_cast<double>(parts[i]);
    table.rows.push_back({text_cell(part_in_words(part)), value_cell(value, times[i]), value_cell(value, shares[i])});
    table.rows.back().back().bar = CellBar{value, tone_of(part)};
  }
  table.total = {text_cell("step time", CellTone::kStrong),
                 text_cell(scale.show_one(total_ns, false), CellTone::kStrong), text_cell("100.0%")};
  return table;
}

DataTable loss_data(const RunSummary& summary) {
  DataTable table;
  if (!summary.efficiency || summary.partition.total_ns() <= 0) return table;
  const analyzer::Efficiency& efficiency = *summary.efficiency;
  const std::int64_t ideal_ns = summary.partition.total_ns() - efficiency.lost_ns;
  table.caption = "Where time is lost";
  table.detail =
      fmt::format("step time {} here, {} ideal ({} run {})",
                  time_in_words(static_cast<double>(summary.partition.total_ns())),
                  time_in_words(static_cast<double>(ideal_ns)),
                  gpus_in_words(efficiency.baseline.run_case.world_size()), efficiency.baseline.id);
  const auto& intervals = efficiency.loss_intervals;
  table.columns = {{"part"}, {"lost", true, "this run's part minus the ideal one"}};
  if (intervals) table.columns.push_back({"95% CI", true});
  table.columns.push_back({"of the loss", true});
  const std::vector<std::int64_t> lost = values_of(efficiency.waterfall);
  std::int64_t largest_ns = std::abs(efficiency.lost_ns);
  for (const std::int64_t part_ns : lost) largest_ns = std::max(largest_ns, std::abs(part_ns));
  const TimeScale scale(largest_ns);
  const auto interval_of = [&](const ConfidenceInterval& interval) {
    return value_cell(interval.low,
                      fmt::format("{} to {}", scale.show_one(std::llround(interval.low), true),
                                  scale.show_one(std::llround(interval.high), true)),
                      CellTone::kFaint);
  };
  const std::vector<std::string> times = scale.show(lost, true);
  const bool is_loss = efficiency.lost_ns > 0;
  const std::vector<std::string> shares =
      is_loss ? shown_percents(lost, efficiency.lost_ns) : std::vector<std::string>(lost.size(), "–");
  for (std::size_t i = 0; i < lost.size(); ++i) {
    if (!is_shown(summary.run.run_case, static_cast<StepPart>(i), lost[i])) continue;
    const auto value = static_cast<double>(lost[i]);
    std::vector<DataCell>& row = table.rows.emplace_back();
    row = {text_cell(part_in_words(static_cast<StepPart>(i))), value_cell(value, times[i])};
    if (intervals) row.push_back(interval_of(intervals->parts[i]));
    row.push_back(value_cell(value, shares[i]));
    row.back().bar = CellBar{value, lost[i] > 0 ? CellTone::kBad : lost[i] < 0 ? CellTone::kGood : CellTone::kPlain};
  }
  table.total = {text_cell("lost in all", CellTone::kStrong),
                 text_cell(scale.show_one(efficiency.lost_ns, true), CellTone::kStrong)};
  if (intervals) table.total->push_back(interval_of(intervals->lost));
  table.total->push_back(text_cell(is_loss ? "100.0%" : "–"));
  table.notes = {intervals ? "95% CI: " + intervals->lost.method : "no intervals: " + intervals.reason()};
  return table;
}

}  // namespace ddbench::reports
