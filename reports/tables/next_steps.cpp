#include "reports/tables/next_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/run_case/program_case.h"
#include "core/text/shell_words.h"
#include "reports/tables/prediction_content.h"

namespace ddbench::reports {
namespace {

constexpr std::size_t kMostChecks = 2;

DataTable steps_table() {
  DataTable table;
  table.caption = "What to do next";
  table.columns = {{"command"}, {"for"}};
  table.columns.back().is_prose = true;
  return table;
}

void add(DataTable& table, std::string command, std::string what) {
  table.rows.push_back({code_cell(std::move(command)), text_cell(std::move(what))});
}

/// The end of an id, which refers to it as well and can be typed.
std::string short_id(const std::string& id) {
  return id.size() > 8 ? id.substr(id.size() - 8) : id;
}

void add_diagnosis(DataTable& table, const std::string& id, const Measured<analyzer::Diagnosis>& diagnosis) {
  if (!diagnosis) return add(table, "ddbench diagnose " + id, "which rank is slow, since when and why; or that none is");
  if (diagnosis->cause == analyzer::Cause::kHealthy) return;
  const auto& checks = diagnosis->next_checks;
  const std::vector<std::string> first(checks.begin(), checks.begin() + static_cast<std::ptrdiff_t>(std::min(checks.size(), kMostChecks)));
  add(table, "ddbench diagnose " + id,
      first.empty() ? "the evidence for the verdict" : fmt::format("check: {}. The evidence, and all checks", fmt::join(first, "; ")));
}

void add_advice(DataTable& table, const std::string& id, const Measured<analyzer::AdviceReport>& advice) {
  const std::string command = "ddbench advise " + id;
  if (!advice) return add(table, command, "what to change first, by its gain in a replay of the run");
  if (advice->advice.empty()) return;
  const analyzer::Advice& best = advice->advice.front();
  add(table, command, fmt::format("try first: {}, predicted {} (95% CI {} to {}). All changes, and what they assume", best.change,
                                  gain_in_words(best.gain.value), gain_in_words(best.gain.interval.low),
                                  gain_in_words(best.gain.interval.high)));
}

}  // namespace

DataTable steps_in_store(DataTable steps, const std::string& store) {
  if (store.empty()) return steps;
  for (auto& row : steps.rows) row.front().text += " --db " + shell_words({store});
  return steps;
}

DataTable next_steps_data(const analyzer::RunSummary& summary, const Measured<analyzer::Diagnosis>& diagnosis,
                          const Measured<analyzer::AdviceReport>& advice) {
  DataTable table = steps_table();
  const store::RunRecord& run = summary.run;
  if (is_micro(run.run_case) || run.provenance.has(Provenance::kImported)) return table;
  const std::string id = short_id(run.id);
  const bool whole = run.state == store::RunState::kDone && run.valid && summary.measured_steps > 0;
  const bool asked = diagnosis || advice;
  if (run.run_case.world_size() > 1 && (diagnosis || !asked)) add_diagnosis(table, id, diagnosis);
  const bool can_be_replayed = whole && (advice || !asked);  // not without spans, for one
  if (can_be_replayed) add_advice(table, id, advice);
  if (can_be_replayed && run.run_case.world_size() > 1 && run.run_case.strategy != "zero3")  // whose parameters travel, too
    add(table, fmt::format("ddbench predict {} --nodes {} --link 10gbit", id, 2 * run.run_case.nodes), "another size, or another network");
  if (summary.ranks.size() > 0) add(table, "ddbench gui", "the timeline of every rank");
  return table;
}

DataTable next_steps_data(const analyzer::ScalingTable& sweep) {
  DataTable table = steps_table();
  if (sweep.rows.empty()) return table;
  const std::string id = shell_words({sweep.sweep_id});  // a part of it is that of each sweep with the same definition
  const bool has_curve = sweep.rows.front().world_size != sweep.rows.back().world_size;
  const analyzer::ScalingRow* largest = analyzer::largest_compared(sweep);
  if (largest != nullptr)
    add(table, "ddbench list --sweep " + id, "the runs; `ddbench diagnose RUN` and `ddbench advise RUN` explain one");
  if (has_curve) add(table, "ddbench scaling --sweep " + id, "where efficiency is lost at each size, and the law of the curve");
  if (largest != nullptr && !largest->efficiency_interval) add(table, "ddbench sweep ... --repeat 3", "intervals of speedup and efficiency");
  add(table, fmt::format("ddbench report {} -o sweep.html", id), "this as a page with charts");
  return table;
}

}  // namespace ddbench::reports
