#include "reports/tables/sweep_content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analyzer/scaling/scaling_series.h"
#include "core/run_case/program_case.h"
#include "core/text/quantity.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;
using analyzer::ScalingRow;

std::string interval_of_efficiency(const ScalingRow& row) {
  const auto& interval = row.efficiency_interval;
  if (!interval) return "no interval: " + interval.reason();
  return fmt::format("{:.0f}% CI {} to {}", 100 * interval->level, percent_in_words(interval->low),
                     percent_in_words(interval->high));
}

const ScalingRow* fastest(const SweepReport& report) {
  const ScalingRow* found = nullptr;
  for (const ScalingRow& row : report.table.rows) {
    if (row.samples_per_s && (found == nullptr || *row.samples_per_s > *found->samples_per_s)) found = &row;
  }
  return found;
}

bool usable(const RunSummary& run) {
  return run.run.state == store::RunState::kDone && run.run.valid;
}

std::string shape_and_link(const RunCase& run_case) {
  std::string text = shape_in_short(run_case);
  return run_case.link.empty() ? text : text + " over " + run_case.link;
}

/// The rows of its size that have an efficiency, itself among them.
std::vector<const ScalingRow*> compared_of_size(const analyzer::ScalingTable& table, const ScalingRow& row) {
  std::vector<const ScalingRow*> rows;
  for (const ScalingRow& other : table.rows) {
    if (other.world_size == row.world_size && other.efficiency) rows.push_back(&other);
  }
  return rows;
}

}  // namespace

std::string largest_case_in_words(const analyzer::ScalingTable& table, const ScalingRow& row) {
  const std::vector<const ScalingRow*> rows = compared_of_size(table, row);
  std::string text = shape_and_link(row.run_case);
  if (rows.size() < 2) return text;
  const auto differ = [&](auto field) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ScalingRow* other) { return other->run_case.*field != row.run_case.*field; });
  };
  if (row.run_case.link.empty() && differ(&RunCase::link)) text += ", link not shaped";
  if (differ(&RunCase::batch_per_gpu)) text += fmt::format(", batch {} per GPU", count_in_words(row.run_case.batch_per_gpu));
  if (!row.variant.empty()) text += ", " + row.variant;
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(), [](const ScalingRow* a, const ScalingRow* b) { return *a->efficiency < *b->efficiency; });
  return text + fmt::format("; the best of {} cases of this size, which have {} to {}", rows.size(), percent_in_words(*(*least)->efficiency),
                            percent_in_words(*(*most)->efficiency));
}

std::string sweep_title(const SweepReport& report) {
  std::set<std::string> workloads;
  std::set<int> sizes;
  for (const ScalingRow& row : report.table.rows) {
    workloads.insert(work_name(row.run_case.work));
    sizes.insert(row.world_size);
  }
  const std::string what =
      workloads.size() == 1 ? *workloads.begin() : fmt::format("{} workloads", workloads.size());
  if (sizes.empty()) return "Sweep";
  const std::string range = sizes.size() == 1
                                ? gpus_in_words(*sizes.begin())
                                : fmt::format("{} to {}", *sizes.begin(), gpus_in_words(*sizes.rbegin()));
  return fmt::format("{} of {}: {}", sentence(analyzer::kind_of_scaling(report.table)), what, range);
}

std::string sweep_subtitle(const SweepReport& report) {
  return fmt::format("{} · {} cases · {} runs · against {}", sweep_in_words(report.table.sweep_id),
                     report.table.rows.size(), report.runs.size(), report.table.baseline);
}

std::vector<std::string> sweep_alarms(const SweepReport& report) {
  const auto bad = report.runs.size() -
                   static_cast<std::size_t>(std::count_if(report.runs.begin(), report.runs.end(), usable));
  if (bad == 0) return {};
  return {fmt::format("{} of {} runs gave no valid figures: see the state of each", bad, report.runs.size())};
}

std::vector<Tile> sweep_tiles(const SweepReport& report) {
  std::vector<Tile> tiles;
  if (const ScalingRow* row = analyzer::largest_compared(report.table)) {
    tiles.push_back({fmt::format("efficiency on {}", gpus_in_words(row->world_size)),
                     percent_in_words(*row->efficiency),
                     fmt::format("{}; speedup {}; {}", interval_of_efficiency(*row), number(*row->speedup),
                                 largest_case_in_words(report.table, *row)),
                     efficiency_tone(*row->efficiency)});
    const auto& exposed_share = row->exposed_communication_share;
    tiles.push_back({"exposed communication there",
                     exposed_share ? percent_in_words(*exposed_share) : "not known",
                     exposed_share ? "of the step time" : exposed_share.reason()});
  } else {
    tiles.push_back(
        {"efficiency", "not known", "no case could be compared with a smaller one", CellTone::kFaint});
  }
  if (const ScalingRow* row = fastest(report)) {
    tiles.push_back(
        {"highest throughput", number(*row->samples_per_s, 4) + " samples/s",
         fmt::format("on {}; {}", gpus_in_words(row->world_size), shape_and_link(row->run_case))});
  }
  const auto good = std::count_if(report.runs.begin(), report.runs.end(), usable);
  tiles.push_back({"runs", fmt::format("{} of {}", good, report.runs.size()), "finished with valid figures",
                   static_cast<std::size_t>(good) == report.runs.size() ? CellTone::kPlain : CellTone::kBad});
  return tiles;
}

std::string sweep_verdict(const SweepReport& report) {
  const ScalingRow* row = analyzer::largest_compared(report.table);
  if (row == nullptr) return "No efficiency: no case could be compared with a smaller one";
  return fmt::format("Efficiency {} ({}) on {} ({}), against {}", percent_in_words(*row->efficiency),
                     interval_of_efficiency(*row), gpus_in_words(row->world_size),
                     largest_case_in_words(report.table, *row), report.table.baseline);
}

std::vector<std::string> best_in_words(const analyzer::ScalingTable& table) {
  std::vector<std::string> sentences;
  for (const analyzer::BestSetting& best : table.best) {
    const auto& rate = best.samples_per_s;
    const std::string rate_interval =
        rate.interval ? fmt::format(" ({:.0f}% CI {} to {})", 100 * rate.interval->level, number(rate.interval->low, 4),
                                    number(rate.interval->high, 4))
                      : "";
    const auto& ratio = best.over_next.interval;
    std::string text = fmt::format(
        "fastest of {} settings on {} ({}{}): {} with {} samples/s{}; {} against the next, {} ({})",
        best.settings, gpus_in_words(best.run_case.world_size()), shape_and_link(best.run_case),
        has_known_batch(best.run_case) ? fmt::format(", batch {} per GPU", count_in_words(best.run_case.batch_per_gpu)) : "", best.setting, number(rate.value, 4), rate_interval,
        signed_percent(best.over_next.value - 1), best.next,
        ratio ? fmt::format("{:.3g}% CI {} to {}, {}", 100 * ratio->level, signed_percent(ratio->low - 1),
                            signed_percent(ratio->high - 1), ratio->method)
              : "no interval: " + ratio.reason());
    const auto others = static_cast<std::size_t>(best.settings - 1);
    if (others > 1 && best.as_good.size() == others) {
      text += "; not distinguishable from any of the others";
    } else if (!best.as_good.empty()) {
      text += fmt::format("; not distinguishable from {}", fmt::join(best.as_good, ", "));
    }
    sentences.push_back(std::move(text));
  }
  return sentences;
}

}  // namespace ddbench::reports
