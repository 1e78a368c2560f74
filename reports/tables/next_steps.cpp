#include "reports/tables/next_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/diagnose/own_work.h"
#include "analyzer/predict/predict_run.h"
#include "analyzer/predict/recording.h"
#include "analyzer/run/run_fields.h"
#include "analyzer/scaling/curve_compatibility.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "core/text/shell_words.h"
#include "reports/tables/prediction_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

constexpr std::size_t kMostChecks = 2;
constexpr int kMostNodes = 1 << 23;  // `ddbench predict` takes twice as many
constexpr analyzer::SpecifiedLink kSuggestedLink{1.2e9, 2e4};  // about "10gbit,20us"

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

void add_diagnosis(DataTable& table, const std::string& id, const Measured<analyzer::Diagnosis>& diagnosis) {
  if (diagnosis->cause == analyzer::Cause::kHealthy) return;
  const auto& checks = diagnosis->next_checks;
  const std::vector<std::string> first(checks.begin(), checks.begin() + static_cast<std::ptrdiff_t>(std::min(checks.size(), kMostChecks)));
  add(table, "ddbench diagnose " + id,
      first.empty() ? "the evidence for the verdict" : fmt::format("check: {}. The evidence, and all checks", fmt::join(first, "; ")));
}

void add_advice(DataTable& table, const std::string& id, const Measured<analyzer::AdviceReport>& advice) {
  if (advice->advice.empty()) return;
  const analyzer::Advice& best = advice->advice.front();
  add(table, "ddbench advise " + id,
      fmt::format("try first: {}, predicted {} (95% CI {} to {}). All changes, and what they assume", best.change,
                  gain_in_words(best.gain.value), gain_in_words(best.gain.interval.low), gain_in_words(best.gain.interval.high)));
}

bool has_whole_figures(const analyzer::RunSummary& summary) {
  return summary.run.state == store::RunState::kDone && summary.run.valid && summary.measured_steps > 0;
}

void add_prediction(DataTable& table, const std::string& id, const std::string& options) {
  if (options.empty()) return;
  add(table, fmt::format("ddbench predict {} {}", id, options),
      options.find("--link") == std::string::npos ? "another size" : "another size, or another network");
}

/// A table that was imported has ranks and nothing that they did.
void add_timeline(DataTable& table, const analyzer::RunSummary& summary) {
  const bool has_spans = summary.probed_steps > 0 || !summary.run.provenance.has(Provenance::kImported);
  if (!summary.ranks.empty() && has_spans) add(table, "ddbench gui", "the timeline of every rank");
}

/// One step is enough to see whether a run can be replayed: all of its steps have the same collectives.
Measured<analyzer::StepRecording> first_step(const store::RunStore& store, const store::RunRecord& run) {
  return analyzer::recording_of(store, run, 1);
}

/// A replay that only shows whether the size can be predicted.
bool is_predictable(const analyzer::StepRecording& step, const analyzer::CollectiveCosts& costs, const analyzer::ClusterShape& shape,
                    bool other_network) {
  analyzer::PredictOptions options;
  options.other_network = other_network;
  options.most_events = 0;
  options.most_events_of_fewest /= static_cast<double>(options.replicates);
  options.replicates = 1;
  return static_cast<bool>(analyzer::predict_step(step, costs, shape, options));
}

std::string prediction_options(const analyzer::StepRecording& step, const store::RunRecord& run) {
  if (run.run_case.world_size() < 2 || run.run_case.nodes > kMostNodes || run.run_case.nodes_not_stated) return {};
  const int nodes = 2 * run.run_case.nodes;
  const analyzer::ClusterShape shape{nodes, run.run_case.gpus_per_node};
  analyzer::CollectiveCosts costs;
  analyzer::add_costs(step, costs);
  // Over a specified link, nodes of several GPUs need costs inside a node, which a run over several nodes does not show.
  if (run.run_case.nodes > 1 && run.run_case.gpus_per_node > 1)
    return is_predictable(step, costs, shape, false) ? fmt::format("--nodes {}", nodes) : "";
  costs.set_link(kSuggestedLink);
  return is_predictable(step, costs, shape, true) ? fmt::format("--nodes {} --link 10gbit,20us", nodes) : "";
}

/// The runs of the rows, as far as their cases show.
std::vector<store::RunRecord> runs_of_rows(const analyzer::ScalingTable& sweep) {
  std::vector<store::RunRecord> runs;
  for (const analyzer::ScalingRow& row : sweep.rows) {
    runs.emplace_back().run_case = row.run_case;
    set_program_files(runs.back().environment.facts, row.script);
  }
  return runs;
}

bool is_one_curve(const std::vector<store::RunRecord>& runs) {
  try {
    analyzer::require_one_curve(runs);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void add_curve(DataTable& table, const analyzer::ScalingTable& sweep, const std::string& id) {
  const std::vector<store::RunRecord> runs = runs_of_rows(sweep);
  if (!is_one_curve(runs)) {
    const auto fields = analyzer::differing_fields(runs, analyzer::kWithinCurve);
    if (fields.empty()) return;
    const std::string field = shell_words({fields.begin()->first});
    return add(table, fmt::format("ddbench compare --by {} --sweep {}", field, id), "each setting against the others, size by size");
  }
  if (sweep.rows.front().world_size != sweep.rows.back().world_size)
    add(table, "ddbench scaling --sweep " + id, "where efficiency is lost at each size, and the law of the curve");
}

}  // namespace

std::string prediction_options(const store::RunStore& store, const store::RunRecord& run) {
  const auto step = first_step(store, run);
  return step ? prediction_options(*step, run) : "";
}

std::string in_store(std::string command, const std::string& db) {
  return db.empty() ? command : command + " --db " + shell_words({db});
}

DataTable steps_in_store(DataTable steps, const std::string& db) {
  for (auto& row : steps.rows) row.front().text = in_store(row.front().text, db);
  return steps;
}

DataTable next_steps_data(const store::RunStore& store, const analyzer::RunSummary& summary) {
  DataTable table = steps_table();
  const store::RunRecord& run = summary.run;
  if (is_micro(run.run_case)) return table;
  const std::string id = short_id(run.id);
  if (run.run_case.world_size() > 1 && analyzer::diagnose(analyzer::work_table(store, run)))
    add(table, "ddbench diagnose " + id, "which rank is slow, since when and why; or that none is");
  if (has_whole_figures(summary)) {
    if (const auto step = first_step(store, run)) {
      add(table, "ddbench advise " + id, "what to change first, by its gain in a replay of the run");
      add_prediction(table, id, prediction_options(*step, run));
    }
  }
  add_timeline(table, summary);
  return table;
}

DataTable next_steps_data(const RunReport& report) {
  DataTable table = steps_table();
  const analyzer::RunSummary& summary = report.summary;
  if (is_micro(summary.run.run_case)) return table;
  const std::string id = short_id(summary.run.id);
  if (report.diagnosis) add_diagnosis(table, id, report.diagnosis);
  if (report.advice && has_whole_figures(summary)) {
    add_advice(table, id, report.advice);
    add_prediction(table, id, report.prediction);
  }
  add_timeline(table, summary);
  return steps_in_store(std::move(table), report.db);
}

DataTable next_steps_data(const analyzer::ScalingTable& sweep) {
  DataTable table = steps_table();
  if (sweep.rows.empty()) return table;
  const std::string id = shell_words({sweep.sweep_id});  // a part of it is that of each sweep with the same definition
  if (analyzer::largest_compared(sweep) != nullptr) {
    add(table, "ddbench list --sweep " + id, "the runs; `ddbench report RUN` shows one, and what explains it");
    add_curve(table, sweep, id);
  }
  add(table, fmt::format("ddbench report {} -o sweep.html", id), "this as a page with charts");
  return table;
}

DataTable next_steps_data(const SweepReport& report) {
  return steps_in_store(next_steps_data(report.table), report.db);
}

}  // namespace ddbench::reports
