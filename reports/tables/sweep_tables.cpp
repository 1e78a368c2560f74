#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/text/quantity.h"
#include "reports/tables/sweep_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;
using analyzer::ScalingRow;
using store::RunState;

/// If all runs of a row failed, the first word of their state; the notes state why.
DataCell efficiency_of(const ScalingRow& row, bool bar) {
  DataCell cell = efficiency_cell(row.efficiency);
  if (row.repetitions == 0) {
    cell = text_cell(row.state.substr(0, row.state.find(':')), CellTone::kBad);
    cell.why = row.state;
  }
  if (bar && row.efficiency) cell.bar = CellBar{*row.efficiency, cell.tone};
  return cell;
}

/// Steps/s with the reason, if there is a step time but no samples.
DataCell rate_of(const Measured<double>& samples_per_s, const Measured<analyzer::Quantity>& step_time_ns) {
  if (samples_per_s || !step_time_ns) return quantity_cell(samples_per_s, "samples/s", 4);
  return rate_cell(1e9 / step_time_ns->value, samples_per_s.reason(), 1);
}

DataCell speedup_of(const ScalingRow& row) {
  return row.speedup ? half_width_cell(*row.speedup, row.speedup_interval) : missing_cell(row.speedup.reason());
}

DataCell batch_cell(const RunCase& run_case) {
  return has_known_batch(run_case) ? count_cell(run_case.batch_per_gpu) : missing_cell("not stated, or nothing is trained");
}

DataCell state_of(const store::RunRecord& run) {
  const bool invalid = run.state == RunState::kDone && !run.valid;
  const CellTone tone = invalid                          ? CellTone::kBad
                        : run.state == RunState::kDone    ? CellTone::kGood
                        : run.state == RunState::kRunning ? CellTone::kWarning
                                                          : CellTone::kBad;
  DataCell cell = text_cell(invalid ? "invalid" : std::string(store::to_string(run.state)), tone);
  cell.why = invalid ? run.invalid_reason : run.reason;
  return cell;
}

DataCell shape_of(const store::RunRecord& run) {
  DataCell cell = value_cell(run.run_case.world_size() + run.run_case.nodes * 1e-6, shape_in_short(run.run_case));
  cell.brief = cell.text;
  std::erase(cell.brief, ' ');
  return cell;
}

/// For the run alone; invalid runs have none.
DataCell efficiency_of(const RunSummary& summary) {
  if (!summary.run.valid) return missing_cell("invalid: " + summary.run.invalid_reason);
  return summary.efficiency ? efficiency_cell(summary.efficiency->value) : missing_cell(summary.efficiency.reason());
}

/// No interval of the efficiency in any row: why.
std::string why_no_interval(const analyzer::ScalingTable& table) {
  std::string reason;
  for (const ScalingRow& row : table.rows) {
    if (row.efficiency && row.efficiency_interval.reason() != "the baseline itself")
      reason = "no interval of the efficiency: " + row.efficiency_interval.reason();
  }
  return reason;
}

}  // namespace

DataTable scaling_data(const analyzer::ScalingTable& table) {
  const auto any = [&](auto has) { return any_row(table.rows, has); };
  const bool strong = table.mode == ScalingMode::kStrong;
  const bool intervals = any([](const ScalingRow& row) { return bool(row.efficiency_interval); });
  const auto first_batch = table.rows.empty() ? 0 : table.rows.front().run_case.batch_per_gpu;
  NumberedTexts cases("case");
  TableOf<ScalingRow> columns;
  columns.add(true, {"GPUs", true}, [](const ScalingRow& row) { return count_cell(row.world_size); });
  columns.add(true, {"nodes", true}, [](const ScalingRow& row) { return nodes_cell(row.run_case); });
  columns.add(any([](const ScalingRow& row) { return !row.variant.empty(); }), {"case"},
              [&cases](const ScalingRow& row) { return cases.cell(row.variant); });
  columns.add(true, {"efficiency", true}, [=](const ScalingRow& row) { return efficiency_of(row, !intervals); });
  columns.add(intervals, {"95% CI", false, "over runs: needs 3 or more on both sides"},
              [](const ScalingRow& row) { return percent_interval_cell(row.efficiency_interval); });
  columns.add(true, {"speedup", true}, speedup_of);
  columns.add(true, {"step time", true, "elapsed time of the measured steps / their number; geometric mean over runs"},
              [](const ScalingRow& row) { return step_time_cell(row.step_time_ns); });
  columns.add(true, {"95% CI", true, "half of the confidence interval of the step time"},
              [](const ScalingRow& row) { return step_time_half_width_cell(row.step_time_ns); });
  columns.add(true, {"samples/s", true}, [](const ScalingRow& row) { return rate_of(row.samples_per_s, row.step_time_ns); });
  columns.add(true, {"exposed", true, "communication not hidden behind compute, share of the step time"},
              [](const ScalingRow& row) { return percent_cell(row.exposed_communication_share); });
  columns.add(true, {.title = "provenance", .brief = "prov."}, [](const ScalingRow& row) { return provenance_cell(row.provenance); });
  columns.add(strong, {"serial", true, "serial fraction, Karp-Flatt"}, [](const ScalingRow& row) { return quantity_cell(row.serial_fraction, "1"); });
  columns.add(!strong && any([&](const ScalingRow& row) { return row.run_case.batch_per_gpu != first_batch; }), {"batch/GPU", true},
              [](const ScalingRow& row) { return batch_cell(row.run_case); });
  columns.add(any([](const ScalingRow& row) { return row.repetitions > 1; }), {"runs", true},
              [](const ScalingRow& row) { return count_cell(row.repetitions); });
  columns.add(any([](const ScalingRow& row) { return !row.run_case.link.empty(); }), {.title = "link", .is_prose = true},
              [](const ScalingRow& row) { return code_cell(row.run_case.link); });
  columns.add(any([](const ScalingRow& row) { return row.state != "done"; }), {.title = "state", .is_prose = true}, [](const ScalingRow& row) {
    return text_cell(row.state, row.state == "done" ? CellTone::kFaint : CellTone::kBad);
  });
  DataTable data = std::move(columns).of(table.rows);
  data.caption = "Scaling";
  data.notes = best_in_words(table);
  data.detail = "efficiency is the speedup divided by the number of GPUs, against " + table.baseline;
  data.legend.push_back("exposed: exposed communication, % of step time · " + provenance_legend_of(table.rows));
  cases.explain(data.legend);
  if (const std::string why = why_no_interval(table); !intervals && !why.empty()) data.notes.push_back(why);
  return data;
}

DataTable runs_data(const std::vector<RunSummary>& runs) {
  const auto any = [&](auto has) { return any_row(runs, has); };
  NumberedTexts programs("program");
  TableOf<RunSummary> columns;
  columns.add(true, {"run"}, [](const RunSummary& each) { return run_cell(each.run.id); });
  columns.add(true, {"state"}, [](const RunSummary& each) { return state_of(each.run); });
  columns.add(true, {"GPUs", true, "nodes × GPUs of each"}, [](const RunSummary& each) { return shape_of(each.run); });
  columns.add(true, {"step time", true}, [](const RunSummary& each) { return step_time_cell(each.step_time_ns); });
  columns.add(true, {"samples/s", true}, [](const RunSummary& each) { return rate_of(each.samples_per_s, each.step_time_ns); });
  columns.add(true, {.title = "efficiency", .numeric = true, .meaning = "of the run alone, against its own baseline", .brief = "eff."},
              [](const RunSummary& each) { return efficiency_of(each); });
  columns.add(any([](const RunSummary& each) { return !each.run.run_case.name.empty(); }), {.title = "name", .is_prose = true},
              [](const RunSummary& each) { return code_cell(each.run.run_case.name); });
  columns.add(true, {.title = "provenance", .brief = "prov."}, [](const RunSummary& each) { return provenance_cell(each.run.provenance); });
  columns.add(true, {.title = "workload", .is_prose = true}, [&programs](const RunSummary& each) {
    const RunCase& run_case = each.run.run_case;
    return is_program(run_case) ? programs.cell(work_in_words(run_case), true) : code_cell(work_name(run_case.work));
  });
  columns.add(true, {"started (UTC)"}, [](const RunSummary& each) { return text_cell(utc_time(each.run.started_wall_ns), CellTone::kFaint); });
  columns.add(any([](const RunSummary& each) { return has_known_batch(each.run.run_case); }), {"batch/GPU", true}, [](const RunSummary& each) {
    return batch_cell(each.run.run_case);
  });
  columns.add(any([](const RunSummary& each) { return each.run.repetition > 0; }),
              {"repetition", true, "counted from 0, as in --where repetition=0"}, [](const RunSummary& each) { return count_cell(each.run.repetition); });
  columns.add(any([](const RunSummary& each) { return !each.run.environment.network.empty(); }), {"network"},
              [](const RunSummary& each) { return code_cell(each.run.environment.network); });
  DataTable data = std::move(columns).of(runs);
  data.caption = "Runs";
  std::uint32_t provenances = 0;
  for (const RunSummary& each : runs) provenances |= each.run.provenance.bits();
  data.legend.push_back(provenance_legend(ProvenanceSet::from_bits(provenances)));
  if (any([](const RunSummary& each) { return each.run.valid && each.efficiency; }))
    data.legend.push_back("eff.: efficiency of each run alone; `ddbench show RUN` has its interval");
  programs.explain(data.legend);
  return data;
}

std::string part_of_list(std::size_t shown, std::int64_t all) {
  const auto count = static_cast<std::int64_t>(shown);
  return count < all ? fmt::format("{} of {} runs, newest first", count_in_words(count), count_in_words(all)) : "";
}

}  // namespace ddbench::reports
