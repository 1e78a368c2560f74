#include "reports/tables/sweep_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
  std::string text = fmt::format("{} × {}", run_case.nodes, run_case.gpus_per_node);
  return run_case.link.empty() ? text : text + " over " + run_case.link;
}

template <typename T>
DataCell cell_or_reason(const Measured<T>& measured, std::string text, CellTone tone = CellTone::kPlain) {
  return measured ? value_cell(static_cast<double>(*measured), std::move(text), tone)
                  : missing_cell(measured.reason());
}

/// Steps/s, and why, where there is a step time and no samples.
DataCell rate_cell(const Measured<double>& samples_per_s, const Measured<analyzer::Quantity>& step_time_ns) {
  if (samples_per_s || !step_time_ns) return cell_or_reason(samples_per_s, samples_per_s ? number(*samples_per_s, 4) : "");
  const double steps_per_s = 1e9 / step_time_ns->value;
  DataCell cell = value_cell(steps_per_s, rate_in_words(steps_per_s, false, 1));
  cell.why = samples_per_s.reason();
  return cell;
}

void add_step_time(const ScalingRow& row, std::vector<DataCell>& cells) {
  if (!row.step_time_ns) {
    cells.insert(cells.end(), 2, missing_cell(row.step_time_ns.reason()));
    return;
  }
  const analyzer::Quantity& step = *row.step_time_ns;
  cells.push_back(value_cell(step.value, time_in_words(step.value)));
  if (!step.interval) {
    cells.push_back(missing_cell(step.interval.reason()));
    return;
  }
  const double half = step.value > 0 ? (step.interval->high - step.interval->low) / 2 / step.value : 0;
  cells.push_back(value_cell(half, "±" + percent_in_words(half)));
  cells.back().why = fmt::format("{} to {}, {}", time_in_words(step.interval->low),
                                 time_in_words(step.interval->high), step.interval->method);
}

std::vector<DataCell> scaling_row(const ScalingRow& row, bool strong) {
  std::vector<DataCell> cells = {
      count_cell(row.world_size), text_cell(shape_and_link(row.run_case)),
      count_cell(strong ? row.run_case.global_batch() : row.run_case.batch_per_gpu)};
  cells[1].sort_by = row.run_case.nodes * 1e6 + row.run_case.gpus_per_node;
  cells.push_back(row.efficiency ? value_cell(*row.efficiency, percent_in_words(*row.efficiency),
                                              efficiency_tone(*row.efficiency))
                                 : missing_cell(row.efficiency.reason()));
  if (row.repetitions == 0) {
    // The state stands at the far end of the row; its first word is needed here.
    cells.back().text = row.state.substr(0, row.state.find(':'));
    cells.back().tone = CellTone::kBad;
  }
  cells.push_back(row.efficiency_interval
                      ? text_cell(fmt::format("{} to {}", percent_in_words(row.efficiency_interval->low),
                                              percent_in_words(row.efficiency_interval->high)))
                      : missing_cell(row.efficiency_interval.reason()));
  if (row.efficiency_interval) cells.back().why = row.efficiency_interval->method;
  cells.push_back(cell_or_reason(row.speedup, row.speedup ? number(*row.speedup) : ""));
  cells.push_back(row.speedup_interval ? text_cell(fmt::format("{} to {}", number(row.speedup_interval->low),
                                                               number(row.speedup_interval->high)))
                                       : missing_cell(row.speedup_interval.reason()));
  add_step_time(row, cells);
  cells.push_back(rate_cell(row.samples_per_s, row.step_time_ns));
  const auto& exposed_share = row.exposed_communication_share;
  cells.push_back(row.repetitions > 0
                      ? cell_or_reason(exposed_share, exposed_share ? percent_in_words(*exposed_share) : "")
                      : missing_cell(row.state));
  if (strong)
    cells.push_back(
        cell_or_reason(row.serial_fraction, row.serial_fraction ? number(*row.serial_fraction) : ""));
  cells.push_back(count_cell(row.repetitions));
  cells.push_back(text_cell(provenance_in_words(row.provenance), CellTone::kFaint));
  cells.push_back(text_cell(row.state, row.state == "done" ? CellTone::kFaint : CellTone::kBad));
  return cells;
}

}  // namespace

std::string sweep_title(const SweepReport& report) {
  std::set<std::string> workloads;
  std::set<int> sizes;
  for (const ScalingRow& row : report.table.rows) {
    workloads.insert(row.run_case.workload);
    sizes.insert(row.world_size);
  }
  const std::string what =
      workloads.size() == 1 ? *workloads.begin() : fmt::format("{} workloads", workloads.size());
  if (sizes.empty()) return "Sweep";
  const std::string range = sizes.size() == 1
                                ? gpus_in_words(*sizes.begin())
                                : fmt::format("{} to {}", *sizes.begin(), gpus_in_words(*sizes.rbegin()));
  return fmt::format("{} scaling of {}: {}", report.table.mode == ScalingMode::kWeak ? "Weak" : "Strong",
                     what, range);
}

std::string sweep_subtitle(const SweepReport& report) {
  return fmt::format("sweep {} · {} cases · {} runs · against {}", report.table.sweep_id,
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
                                 shape_and_link(row->run_case)),
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
                     shape_and_link(row->run_case), report.table.baseline);
}

DataTable scaling_data(const analyzer::ScalingTable& table) {
  const bool strong = table.mode == ScalingMode::kStrong;
  DataTable data;
  data.caption = "Scaling";
  data.detail = "efficiency is the speedup divided by the number of GPUs, against " + table.baseline;
  data.columns = {
      {"GPUs", true},
      {"nodes × GPUs"},
      {strong ? "global batch" : "batch/GPU", true},
      {"efficiency", true},
      {"95% CI of it", true, "over runs: needs 3 or more on both sides"},
      {"speedup", true},
      {"95% CI of it", true, "follows from that of the efficiency"},
      {"step time", true, "elapsed time of the measured steps / their number; geometric mean over runs"},
      {"95% CI", true, "half of the confidence interval of the step time"},
      {"samples/s", true},
      {"exposed", true, "communication not hidden behind compute, share of the step time"}};
  if (strong) data.columns.push_back({"serial fraction", true, "Karp-Flatt"});
  data.columns.insert(data.columns.end(), {{"runs", true}, {"provenance"}, {"state"}});
  for (const ScalingRow& row : table.rows) data.rows.push_back(scaling_row(row, strong));
  return data;
}

DataTable runs_data(const std::vector<RunSummary>& runs) {
  DataTable data;
  data.caption = "Runs";
  data.columns = {{"run"},
                  {"state"},
                  {"started (UTC)"},
                  {"GPUs", true},
                  {"nodes × GPUs"},
                  {"batch/GPU", true},
                  {"repetition", true},
                  {"step time", true},
                  {"samples/s", true},
                  {"efficiency", true, "against the run's own baseline"},
                  {"network"}};
  for (const RunSummary& summary : runs) {
    const store::RunRecord& run = summary.run;
    const std::string why = !run.valid ? "invalid: " + run.invalid_reason : run.reason;
    data.rows.push_back(
        {code_cell(run.id),
         text_cell(std::string(store::to_string(run.state)) + (why.empty() ? "" : ": " + why),
                   usable(summary) ? CellTone::kFaint : CellTone::kBad),
         text_cell(utc_time(run.started_wall_ns), CellTone::kFaint), count_cell(run.run_case.world_size()),
         text_cell(shape_in_short(run)),
         has_known_batch(run.run_case) ? count_cell(run.run_case.batch_per_gpu) : missing_cell("a program's, which nobody stated"),
         count_cell(run.repetition + 1),
         summary.step_time_ns
             ? value_cell(summary.step_time_ns->value, time_in_words(summary.step_time_ns->value))
             : missing_cell(summary.step_time_ns.reason()),
         rate_cell(summary.samples_per_s, summary.step_time_ns),
         summary.efficiency
             ? value_cell(summary.efficiency->value, percent_in_words(summary.efficiency->value),
                          efficiency_tone(summary.efficiency->value))
             : missing_cell(summary.efficiency.reason()),
         code_cell(run.environment.network)});
    data.rows.back()[4].sort_by = run.run_case.nodes * 1e6 + run.run_case.gpus_per_node;
  }
  return data;
}

}  // namespace ddbench::reports
