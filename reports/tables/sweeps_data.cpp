#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/tables/sweep_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

/// The runs of one sweep, newest first as in the list.
struct ListedSweep {
  std::string id;
  std::vector<const store::RunRecord*> runs;
};

std::vector<ListedSweep> sweeps_of(const std::vector<analyzer::RunSummary>& runs) {
  std::vector<ListedSweep> sweeps;
  std::map<std::string, std::size_t> places;
  for (const analyzer::RunSummary& each : runs) {
    if (each.run.sweep_id.empty()) continue;
    const auto [place, is_new] = places.try_emplace(each.run.sweep_id, sweeps.size());
    if (is_new) sweeps.push_back({each.run.sweep_id, {}});
    sweeps[place->second].runs.push_back(&each.run);
  }
  return sweeps;
}

/// The values of all its runs, each once, in order.
template <typename Value>
std::string values_of_runs(const ListedSweep& sweep, Value value) {
  std::set<decltype(value(*sweep.runs.front()))> values;
  for (const store::RunRecord* run : sweep.runs) values.insert(value(*run));
  return fmt::format("{}", fmt::join(values, ", "));
}

DataCell state_of_sweep(const ListedSweep& sweep) {
  const auto has = [&](auto condition) {
    return std::count_if(sweep.runs.begin(), sweep.runs.end(), [&](const store::RunRecord* run) { return condition(*run); });
  };
  const auto running = has([](const store::RunRecord& run) { return run.state == store::RunState::kRunning; });
  const auto usable = has([](const store::RunRecord& run) { return run.state == store::RunState::kDone && run.valid; });
  const auto unusable = static_cast<std::ptrdiff_t>(sweep.runs.size()) - running - usable;
  if (unusable > 0) return text_cell(fmt::format("{} without figures", unusable), CellTone::kBad);
  return running > 0 ? text_cell("running", CellTone::kWarning) : text_cell("done", CellTone::kGood);
}

}  // namespace

DataTable sweeps_data(const std::vector<analyzer::RunSummary>& runs) {
  TableOf<ListedSweep> columns;
  columns.add(true, {"sweep"}, [](const ListedSweep& each) { return sweep_cell(each.id); });
  columns.add(true, {"state"}, state_of_sweep);
  columns.add(true, {"runs shown", true, "runs of the sweep that are in this list"}, [](const ListedSweep& each) { return count_cell(static_cast<std::int64_t>(each.runs.size())); });
  columns.add(true, {"GPUs"}, [](const ListedSweep& each) {
    return text_cell(values_of_runs(each, [](const store::RunRecord& run) { return run.run_case.world_size(); }));
  });
  columns.add(true, {.title = "workload", .is_prose = true}, [](const ListedSweep& each) {
    return code_cell(values_of_runs(each, [](const store::RunRecord& run) { return std::string(work_name(run.run_case.work)); }));
  });
  columns.add(true, {"started (UTC)"}, [](const ListedSweep& each) {
    return text_cell(utc_time(each.runs.back()->started_wall_ns), CellTone::kFaint);
  });
  DataTable data = std::move(columns).of(sweeps_of(runs));
  data.caption = "Sweeps";
  return data;
}

}  // namespace ddbench::reports
