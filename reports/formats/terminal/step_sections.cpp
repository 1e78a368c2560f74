#include "reports/formats/terminal/step_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/run_case/program_case.h"
#include "core/text/quantity.h"
#include "reports/formats/terminal/layout/bars.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"
#include "reports/text/shown_parts.h"

namespace ddbench::reports {
namespace {

using store::StepPart;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kWidestBar = 44;

std::vector<std::int64_t> values_of(const store::StepPartition& partition) {
  return {partition.ns.begin(), partition.ns.end()};
}

/// What the bars may take beside the text of a row.
std::size_t bar_columns(std::size_t width) {
  constexpr std::size_t kText = kIndent + 18 + 2 + 11 + 2 + 9 + 2;
  return std::clamp<std::size_t>(width > kText ? width - kText : 0, 8, kWidestBar);
}

/// Parts that most runs do not have, and those that cannot be told apart in a program, are left out where
/// they are nothing.
bool is_shown(const RunCase& run_case, StepPart part, std::int64_t value_ns) {
  if (value_ns != 0) return true;
  if (!is_program(run_case)) return part != StepPart::kOtherCompute && part != StepPart::kCopy;
  return part == StepPart::kOtherCompute || part == StepPart::kExposedTransfer ||
         part == StepPart::kExposedPeerWait || part == StepPart::kHost;
}

Tone tone_of(StepPart part) {
  if (static_cast<int>(part) <= static_cast<int>(StepPart::kOtherCompute)) return Tone::kGood;
  const bool communication = part == StepPart::kExposedTransfer || part == StepPart::kExposedPeerWait;
  return communication ? Tone::kBad : Tone::kWarning;
}

std::string heading(const Paint& paint, const std::string& title, const std::string& detail,
                    std::size_t width) {
  const std::size_t room = width > title.size() + 2 ? width - title.size() - 2 : 0;
  return paint(Tone::kStrong, title) + "  " + paint(Tone::kFaint, fitted(detail, room)) + "\n";
}

}  // namespace

std::string partition_section(const analyzer::RunSummary& summary, const Paint& paint, std::size_t width) {
  const std::int64_t total_ns = summary.partition.total_ns();
  if (total_ns <= 0) return {};
  const TimeScale scale(total_ns);
  const std::vector<std::int64_t> values = values_of(summary.partition);
  const std::vector<std::string> times = scale.show(values, false);
  const std::vector<std::string> percents = shown_percents(values, total_ns);
  const std::int64_t longest_ns = *std::max_element(values.begin(), values.end());
  Table table({{"", Align::kLeft}, {""}, {""}, {"", Align::kLeft}});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto part = static_cast<StepPart>(i);
    if (!is_shown(summary.run.run_case, part, values[i])) continue;
    const double share = static_cast<double>(values[i]) / static_cast<double>(longest_ns);
    table.add_row(
        {{part_in_words(part)}, {times[i]}, {percents[i]}, {bar(share, bar_columns(width)), tone_of(part)}});
  }
  table.add_row(
      {{"step time", Tone::kStrong}, {scale.show_one(total_ns, false), Tone::kStrong}, {"100.0%"}, {}});
  const std::string detail = fmt::format("mean over {} and {} of {} steps (probes on)",
                                         summary.ranks.size() == 1
                                             ? std::string("1 rank")
                                             : fmt::format("{} ranks", summary.ranks.size()),
                                         summary.probed_steps, summary.measured_steps);
  return heading(paint, "Where a step goes", detail, width) + table.render(paint, kIndent, width);
}

std::string waterfall_section(const analyzer::RunSummary& summary, const Paint& paint, std::size_t width) {
  if (!summary.efficiency) return {};
  const analyzer::Efficiency& efficiency = *summary.efficiency;
  const std::vector<std::int64_t> values = values_of(efficiency.waterfall);
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  const TimeScale scale(std::max({-*smallest, *largest, std::abs(efficiency.lost_ns)}));
  const std::vector<std::string> times = scale.show(values, true);
  const std::vector<std::string> percents = shown_percents(values, efficiency.lost_ns);
  const SignedBars bars(static_cast<double>(*smallest), static_cast<double>(*largest), bar_columns(width));
  const auto& intervals = efficiency.loss_intervals;
  const auto interval_cell = [&](const ConfidenceInterval& interval) {
    return TableCell{fmt::format("{} to {}", scale.show_one(std::llround(interval.low), true),
                                 scale.show_one(std::llround(interval.high), true)),
                     Tone::kFaint};
  };
  std::vector<TableColumn> columns = {{"", Align::kLeft}, {""}, {""}, {"", Align::kLeft}};
  if (intervals) columns.insert(columns.begin() + 2, TableColumn{""});
  Table table(std::move(columns));
  const auto add_row = [&](std::vector<TableCell> row, const ConfidenceInterval* interval) {
    if (interval != nullptr) row.insert(row.begin() + 2, interval_cell(*interval));
    table.add_row(std::move(row));
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_shown(summary.run.run_case, static_cast<StepPart>(i), values[i])) continue;
    const Tone tone = values[i] > 0 ? Tone::kBad : values[i] < 0 ? Tone::kGood : Tone::kPlain;
    add_row({{part_in_words(static_cast<StepPart>(i))},
             {times[i]},
             {percents[i]},
             {bars.draw(static_cast<double>(values[i])), tone}},
            intervals ? &intervals->parts[i] : nullptr);
  }
  add_row({{"lost in all", Tone::kStrong}, {scale.show_one(efficiency.lost_ns, true), Tone::kStrong}, {}, {}},
          intervals ? &intervals->lost : nullptr);
  const std::int64_t ideal_ns = summary.partition.total_ns() - efficiency.lost_ns;
  const std::string detail =
      fmt::format("step time {} here, {} ideal ({} run {})",
                  time_in_words(static_cast<double>(summary.partition.total_ns())),
                  time_in_words(static_cast<double>(ideal_ns)),
                  gpus_in_words(efficiency.baseline.run_case.world_size()), visible(efficiency.baseline.id));
  const std::string why =
      intervals ? "95% CI: " + intervals->lost.method : "no intervals: " + intervals.reason();
  return heading(paint, "Where time is lost", detail, width) + table.render(paint, kIndent, width) +
         std::string(kIndent, ' ') + paint(Tone::kFaint, fitted(why, width - kIndent)) + "\n";
}

namespace {

/// A note below says more of what is missing.
std::string in_table(const Measured<std::int64_t>& time_ns) {
  if (time_ns) return quantity(static_cast<double>(*time_ns), "ns");
  return time_ns.reason().starts_with("below clock resolution") ? "below clock res." : "–";
}

}  // namespace

std::string collectives_section(const analyzer::RunSummary& summary, const Paint& paint, std::size_t width) {
  if (summary.collectives.empty()) return {};
  std::vector<TableColumn> columns = {{"function", Align::kLeft, true},
                                      {"bucket"},
                                      {"count"},
                                      {"bytes"},
                                      {"time"},
                                      {"algbw GB/s"},
                                      {"busbw GB/s"},
                                      {"peer wait"}};
  const bool manners = analyzer::tells_manners(summary);
  if (manners) columns.push_back({"manner", Align::kLeft, true});
  const bool communicators = analyzer::names_communicators(summary);
  if (communicators) columns.insert(columns.begin() + 1, {"communicator", Align::kLeft, true});
  Table table(std::move(columns));
  for (const analyzer::CollectiveSummary& collective : summary.collectives) {
    const store::CollectiveRecord& record = collective.record;
    const std::string uncertainty = collective.clock_uncertainty_share > 0
                                        ? fmt::format(" ±{:.2g}%", 100 * collective.clock_uncertainty_share)
                                        : std::string();
    std::vector<TableCell> row = {{visible(record.function)},
                                  {record.bucket < 0 ? std::string("–") : std::to_string(record.bucket)},
                                  {count_in_words(static_cast<std::int64_t>(record.count))},
                                  {has_known_size(record) ? quantity(static_cast<double>(record.bytes), "B") : "–"},
                                  {in_table(collective.transfer_ns)},
                                  {number_or_dash(collective.algbw_gb_per_s)},
                                  {number_or_dash(collective.busbw_gb_per_s) + uncertainty},
                                  {in_table(collective.peer_wait_ns)}};
    if (manners) row.push_back({visible(record.manner)});
    if (communicators) row.insert(row.begin() + 1, {visible(communicator_in_words(collective.communicator))});
    table.add_row(std::move(row));
  }
  return heading(paint, "Collectives", "medians over measured steps; time from the last rank's arrival",
                 width) +
         table.render(paint, kIndent, width);
}

}  // namespace ddbench::reports
