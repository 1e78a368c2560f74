#include "ddbench/analyzer/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ddbench/record/error.h"
#include "run_fields.h"

namespace ddbench::analyzer {
namespace {

/// All runs of one case, oldest first.
struct Repetitions {
  std::string key;
  std::vector<RunSummary> runs;
  const RunCase& run_case() const { return runs.front().run.run_case; }
};

bool usable(const RunSummary& summary) {
  return summary.run.state == store::RunState::kDone && summary.run.valid && summary.samples_per_s;
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
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Repetitions& g) { return g.key == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), Repetitions{key, {}});
    group->runs.push_back(summarize(store, run.id));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Repetitions& a, const Repetitions& b) {
    return std::pair(a.run_case().world_size(), a.run_case().nodes) <
           std::pair(b.run_case().world_size(), b.run_case().nodes);
  });
  return groups;
}

std::string reason_without_figures(const Repetitions& group) {
  const RunSummary& latest = group.runs.back();
  if (!latest.run.valid) return "invalid: " + latest.run.invalid_reason;
  std::string reason{to_string(latest.run.state)};
  if (!latest.run.reason.empty()) reason += ": " + latest.run.reason;
  if (latest.run.state == store::RunState::kDone && !latest.samples_per_s) {
    reason = "no figures: " + latest.samples_per_s.reason();
  }
  return reason;
}

ScalingRow make_row(const Repetitions& group) {
  ScalingRow row;
  row.run_case = group.run_case();
  row.world_size = row.run_case.world_size();
  std::vector<double> medians_ns;
  const RunSummary* only = nullptr;
  double exposed_share = 0;
  std::string unknown;  // why what was exposed is not known
  for (const RunSummary& summary : group.runs) {
    row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | summary.run.provenance.bits());
    if (!usable(summary)) continue;
    only = &summary;
    medians_ns.push_back(static_cast<double>(row.run_case.global_batch()) * 1e9 / *summary.samples_per_s);
    const auto& exposed_ns = summary.exposed_communication_ns;
    if (const std::int64_t step_ns = summary.partition.total_ns(); step_ns > 0) {
      exposed_share += static_cast<double>(exposed_ns.value_or(0)) / static_cast<double>(step_ns);
      if (!exposed_ns) unknown = exposed_ns.reason();
    }
  }
  row.repetitions = static_cast<int>(medians_ns.size());
  row.state = row.repetitions > 0 ? "done" : reason_without_figures(group);
  if (row.repetitions == 0) return row;
  row.exposed_communication_share = unknown.empty() ? Measured<double>(exposed_share / row.repetitions)
                                                    : Measured<double>::missing(unknown);
  row.step_time_ns = row.repetitions == 1 ? only->step_time_ns : mean_of_runs(medians_ns);
  double mean_ns = 0;
  for (const double median_ns : medians_ns) mean_ns += median_ns / row.repetitions;
  row.samples_per_s = static_cast<double>(row.run_case.global_batch()) * 1e9 / mean_ns;
  return row;
}

/// Null when no row of the smallest size that has runs gave figures.
const ScalingRow* baseline_for(const ScalingRow& row, const std::vector<ScalingRow>& rows) {
  const std::string wanted = case_key(baseline_case(row.run_case));
  const ScalingRow* first = nullptr;
  for (const ScalingRow& candidate : rows) {
    if (candidate.world_size != rows.front().world_size || !candidate.samples_per_s) continue;
    if (case_key(candidate.run_case) == wanted) return &candidate;
    if (first == nullptr) first = &candidate;
  }
  return first;
}

void compare(ScalingRow& row, const ScalingRow* baseline) {
  if (baseline == nullptr) return;
  if (!row.samples_per_s) {
    row.speedup = row.efficiency = row.serial_fraction = Measured<double>::missing(row.state);
    return;
  }
  const double n = static_cast<double>(row.world_size) / baseline->world_size;
  const double speedup = *row.samples_per_s / *baseline->samples_per_s;
  row.speedup = speedup;
  row.efficiency = speedup / n;
  if (row.run_case.scaling == ScalingMode::kWeak) {
    row.serial_fraction = Measured<double>::missing("weak scaling");
  } else if (n > 1) {
    row.serial_fraction = karp_flatt(speedup, n);
  } else {
    row.serial_fraction = Measured<double>::missing("the baseline itself");
  }
}

std::string in_words(const std::vector<Repetitions>& groups, const ScalingRow* baseline) {
  if (baseline == nullptr) return "none: the smallest runs of the sweep gave no figures";
  for (const Repetitions& group : groups) {
    if (group.key != case_key(baseline->run_case)) continue;
    const auto used = std::find_if(group.runs.begin(), group.runs.end(), usable);
    return fmt::format(
        "{} GPU{} (run {}{})", baseline->world_size, baseline->world_size == 1 ? "" : "s", used->run.id,
        baseline->repetitions > 1 ? fmt::format(" and {} more", baseline->repetitions - 1) : "");
  }
  return {};
}

/// The fields of a row that may set it apart, as people write them.
std::map<std::string, std::string> fields_of(const RunCase& run_case) {
  static const std::set<std::string> kShownElsewhere = {"nodes", "gpus_per_node", "world_size",
                                                        "batch_per_gpu", "link"};
  store::RunRecord run;
  run.run_case = run_case;
  std::map<std::string, std::string> fields;
  for (const auto& [name, field] : run_fields(run)) {
    if (field.defines && !kShownElsewhere.contains(name)) fields[name] = field.text;
  }
  if (run_case.scaling == ScalingMode::kStrong)
    fields["global_batch"] = std::to_string(run_case.global_batch());
  return fields;
}

void add_variants(std::vector<ScalingRow>& rows) {
  std::map<std::string, std::set<std::string>> values;
  for (const ScalingRow& row : rows) {
    for (const auto& [name, text] : fields_of(row.run_case)) {
      // A run on one node asks for no network.
      if (name != "requested_network" || row.run_case.nodes > 1) values[name].insert(text);
    }
  }
  for (ScalingRow& row : rows) {
    for (const auto& [name, text] : fields_of(row.run_case)) {
      if (values[name].size() < 2 || text.empty()) continue;
      row.variant += fmt::format("{}{}={}", row.variant.empty() ? "" : " ", name, text);
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
                                          reason_without_figures({group.key, {summary}})));
        continue;
      }
      for (const std::string& note : summary.notes) {
        if (note.rfind("oversubscribed", 0) == 0) ceilings.insert(note);
      }
    }
  }
  if (both_modes) table.notes.push_back("weak and strong scaling are mixed: their rows cannot be compared");
  if (provenances.size() > 1) table.notes.push_back("provenances are mixed: see the column of each row");
  if (environments.size() > 1)
    table.notes.push_back("the runs come from several environments: hardware or software differ");
  table.notes.insert(table.notes.end(), ceilings.begin(), ceilings.end());
}

}  // namespace

double karp_flatt(double speedup, double n) {
  if (!(speedup > 0) || !(n > 1)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("no serial fraction for a speedup of {} on {} processors: it needs S > 0 and N > 1",
                    speedup, n));
  }
  return (1 / speedup - 1 / n) / (1 - 1 / n);
}

ScalingTable scaling_table(const store::RunStore& store, const std::string& sweep_id) {
  const std::vector<store::RunRecord> runs = runs_to_compare(store, sweep_id);
  if (sweep_id.empty() || runs.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has no runs of sweep '{}'", store.file().string(), sweep_id));
  }
  const std::vector<Repetitions> groups = group_by_case(store, runs);
  ScalingTable table;
  table.sweep_id = sweep_id;
  table.mode = groups.front().run_case().scaling;
  for (const Repetitions& group : groups) table.rows.push_back(make_row(group));
  add_variants(table.rows);
  for (ScalingRow& row : table.rows) compare(row, baseline_for(row, table.rows));
  table.baseline = in_words(groups, baseline_for(table.rows.front(), table.rows));
  add_notes(groups, table);
  return table;
}

}  // namespace ddbench::analyzer
