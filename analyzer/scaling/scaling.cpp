#include "analyzer/scaling/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/run/case_figures.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/run/run_fields.h"
#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

/// All runs of one case, oldest first.
struct Repetitions {
  std::string key;
  ProgramFiles script;  ///< of all of its runs
  std::vector<RunSummary> runs;
  std::optional<CaseFigures> figures = {};  ///< of the usable ones, where there are any
  const RunCase& run_case() const { return runs.front().run.run_case; }
};

bool usable(const RunSummary& summary) {
  return summary.run.state == store::RunState::kDone && summary.run.valid && summary.work_per_s;
}

/// Oldest first, and before them the baselines that they were stated against where these lie outside of the
/// sweep.
std::vector<store::RunRecord> runs_to_compare(const store::RunStore& store, const std::string& sweep_id) {
  store::Query query;
  query.sweep_id = sweep_id;
  std::vector<store::RunRecord> runs = store.runs(query);
  std::reverse(runs.begin(), runs.end());  // the store gives the newest first
  std::set<store::RunId> known;
  for (const store::RunRecord& run : runs) known.insert(run.id);
  std::vector<store::RunRecord> baselines;
  for (const store::RunRecord& run : runs) {
    if (run.baseline_id.empty() || !known.insert(run.baseline_id).second) continue;
    if (std::optional<store::RunRecord> baseline = store.run(run.baseline_id))
      baselines.push_back(*std::move(baseline));
  }
  runs.insert(runs.begin(), baselines.begin(), baselines.end());
  return runs;
}

std::vector<Repetitions> group_by_case(const store::RunStore& store,
                                       const std::vector<store::RunRecord>& runs) {
  std::vector<Repetitions> groups;
  for (const store::RunRecord& run : runs) {
    const std::string key = case_key(run.run_case);
    ProgramFiles script = program_files(run.environment.facts);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Repetitions& g) {
      return g.key == key && changed_files(g.script, script).empty();
    });
    if (group == groups.end()) group = groups.insert(groups.end(), Repetitions{key, {}, {}});
    group->script.merge(script);
    group->runs.push_back(summarize(store, run.id));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Repetitions& a, const Repetitions& b) {
    const auto size_of = [](const RunCase& run_case) { return std::tuple(run_case.world_size(), run_case.nodes, run_case.nodes_not_stated); };
    return size_of(a.run_case()) < size_of(b.run_case());
  });
  return groups;
}

std::string reason_without_figures(const Repetitions& group) {
  const RunSummary& latest = group.runs.back();
  if (!latest.run.valid) return "invalid: " + latest.run.invalid_reason;
  std::string reason{to_string(latest.run.state)};
  if (!latest.run.reason.empty()) reason += ": " + latest.run.reason;
  if (latest.run.state == store::RunState::kDone && !latest.work_per_s) {
    reason = "no figures: " + latest.work_per_s.reason();
  }
  return reason;
}

void add_figures(Repetitions& group) {
  std::vector<RunSummary> good;
  std::copy_if(group.runs.begin(), group.runs.end(), std::back_inserter(good), usable);
  if (!good.empty()) group.figures = case_figures(good);
}

ScalingRow make_row(const Repetitions& group) {
  ScalingRow row;
  row.run_case = group.run_case();
  row.script = group.script;
  row.world_size = row.run_case.world_size();
  for (const RunSummary& summary : group.runs)
    row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | summary.run.provenance.bits());
  row.state = group.figures ? "done" : reason_without_figures(group);
  if (!group.figures) return row;
  row.repetitions = static_cast<int>(group.figures->runs.size());
  row.exposed_communication_share = group.figures->exposed_share;
  row.step_time_ns = group.figures->step_time_ns;
  const std::string& without_samples = group.figures->without_samples;
  row.samples_per_s = without_samples.empty() ? Measured<double>(group.figures->samples_per_s)
                                              : Measured<double>::missing(without_samples);
  return row;
}

/// Null when no case of the smallest size that gave figures does the same work.
const Repetitions* baseline_for(const Repetitions& group, const std::vector<Repetitions>& groups) {
  const RunCase& here = group.run_case();
  const std::string wanted = case_key(baseline_case(here));
  const Repetitions* first = nullptr;
  for (const Repetitions& candidate : groups) {
    const bool is_smallest = candidate.run_case().world_size() == groups.front().run_case().world_size();
    if (!is_smallest || !candidate.figures || !changed_files(candidate.script, group.script).empty()) continue;
    if (candidate.key == wanted) return &candidate;
    const bool same_work = candidate.run_case().work == here.work &&
                           (!group.figures || efficiency_against(*candidate.figures, *group.figures));
    if (same_work && first == nullptr) first = &candidate;
  }
  return first;
}

void compare(ScalingRow& row, const Repetitions& group, const Repetitions* baseline) {
  const auto miss = [&](const std::string& reason) {
    row.speedup = row.efficiency = row.serial_fraction = Measured<double>::missing(reason);
    row.speedup_interval = row.efficiency_interval = Measured<ConfidenceInterval>::missing(reason);
    row.waterfall = Measured<Waterfall>::missing(reason);
  };
  if (!group.figures) return miss(row.state);
  if (baseline == nullptr) return;
  const Measured<CaseEfficiency> compared = efficiency_against(*baseline->figures, *group.figures);
  if (!compared) return miss(compared.reason());
  const CaseEfficiency& found = *compared;
  row.speedup = found.speedup.value;
  row.speedup_interval = found.speedup.interval;
  row.efficiency = found.efficiency.value;
  row.efficiency_interval = found.efficiency.interval;
  row.waterfall = found.waterfall;
  row.serial_fraction = found.serial_fraction ? Measured<double>(found.serial_fraction->value)
                                              : Measured<double>::missing(found.serial_fraction.reason());
}

std::string in_words(const Repetitions* baseline) {
  if (baseline == nullptr) return "none: the smallest runs of the sweep gave no figures";
  const CaseFigures& figures = *baseline->figures;
  return fmt::format("{} (run {}{})", gpus(figures.run_case.world_size()), figures.runs.front(),
                     figures.runs.size() > 1 ? fmt::format(" and {} more", figures.runs.size() - 1) : "");
}

/// Rows are cases: they may also differ in fields that points of one curve share. Size, batch per GPU and
/// link have columns of their own.
void add_variants(std::vector<ScalingRow>& rows) {
  VariedFields shown = kWithinCurve;
  shown.roles.erase(FieldRole::kSampling);
  shown.names = {"link"};
  std::vector<store::RunRecord> runs(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    runs[i].run_case = rows[i].run_case;
    set_program_files(runs[i].environment.facts, rows[i].script);
  }
  const auto differing = differing_fields(runs, shown);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string& variant = rows[i].variant;
    for (const auto& [name, text] : group_fields(runs[i], shown)) {
      if (differing.contains(name) && name != "batch_per_gpu" && !text.empty())
        variant += fmt::format("{}{}={}", variant.empty() ? "" : " ", name, text);
    }
  }
}

void add_notes(const std::vector<Repetitions>& groups, ScalingTable& table) {
  std::set<std::string> environments;
  std::set<std::uint32_t> provenances;
  std::set<std::string> ceilings;
  bool both_modes = false;
  for (const Repetitions& group : groups) {
    both_modes |= group.run_case().scaling != table.mode;
    for (const RunSummary& summary : group.runs) {
      provenances.insert(summary.run.provenance.bits());
      environments.insert(summary.run.environment.fingerprint);
      if (!usable(summary)) {
        table.notes.push_back(fmt::format("run {} ({} GPUs) is left out: {}", summary.run.id,
                                          group.run_case().world_size(),
                                          reason_without_figures({group.key, {}, {summary}, {}})));
        continue;
      }
      for (const std::string& note : summary.notes) {
        if (note.rfind("oversubscribed", 0) == 0) ceilings.insert(note);
      }
    }
  }
  for (const ScalingRow& row : table.rows) {
    const std::string doubt = row.efficiency ? doubt_about_efficiency(*row.efficiency) : std::string();
    if (!doubt.empty()) table.notes.push_back(fmt::format("{}: {}", gpus(row.world_size), doubt));
  }
  std::set<std::string> edited;
  for (const Repetitions& group : groups) {
    for (std::string& file : changed_files(groups.front().script, group.script)) edited.insert(std::move(file));
  }
  if (!edited.empty()) {
    table.notes.push_back(fmt::format("the script changed between these runs: {}. Runs before and after that are other cases",
                                      files_in_words({edited.begin(), edited.end()})));
  }
  if (both_modes) table.notes.push_back("weak and strong scaling are mixed: their rows cannot be compared");
  if (provenances.size() > 1) table.notes.push_back("provenances are mixed: see the column of each row");
  if (environments.size() > 1)
    table.notes.push_back("the runs come from several environments: hardware or software differ");
  table.notes.insert(table.notes.end(), ceilings.begin(), ceilings.end());
}

}  // namespace

ScalingTable scaling_table(const store::RunStore& store, const std::string& sweep_id) {
  const std::vector<store::RunRecord> runs = runs_to_compare(store, sweep_id);
  if (sweep_id.empty() || runs.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has no runs of sweep '{}'", store.file().string(), sweep_id));
  }
  std::vector<Repetitions> groups = group_by_case(store, runs);
  for (Repetitions& group : groups) add_figures(group);
  ScalingTable table;
  table.sweep_id = sweep_id;
  table.mode = groups.front().run_case().scaling;
  for (const Repetitions& group : groups) table.rows.push_back(make_row(group));
  add_variants(table.rows);
  for (std::size_t i = 0; i < groups.size(); ++i)
    compare(table.rows[i], groups[i], baseline_for(groups[i], groups));
  table.baseline = in_words(baseline_for(groups.front(), groups));
  std::vector<CaseFigures> cases;
  for (const Repetitions& group : groups) {
    if (group.figures && !is_program(group.run_case())) cases.push_back(*group.figures);
  }
  table.best = best_settings(cases);
  add_notes(groups, table);
  return table;
}

}  // namespace ddbench::analyzer
