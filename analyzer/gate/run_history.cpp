#include "analyzer/gate/run_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyzer/run/gpu_count.h"
#include "analyzer/run/run_fields.h"
#include "core/run_case/program_files.h"
#include "core/run_case/run_case_hash.h"
#include "core/text/quantity.h"
#include "core/text/text_hash.h"

namespace ddbench::analyzer {
namespace {

using Fields = CaseFields;

Fields defining_fields(const store::RunRecord& run) {
  Fields fields = run_fields(run);
  std::erase_if(fields, [](const auto& entry) {
    return entry.second.role == FieldRole::kLabel || entry.second.unknown_where_absent;
  });
  return fields;
}

struct Group {
  Fields fields;
  std::vector<RunMeasures> runs;
};

/// All that run_fields() derives the defining fields from.
struct CaseAndPlace {
  RunCase run_case;  ///< without labels
  std::string network;
  std::string fingerprint;
  ProvenanceSet provenance;

  explicit CaseAndPlace(const store::RunRecord& run)
      : run_case(run.run_case),
        network(run.environment.network),
        fingerprint(run.environment.fingerprint),
        provenance(run.provenance) {
    run_case.name.clear();
    run_case.tags.clear();
  }
  friend bool operator==(const CaseAndPlace&, const CaseAndPlace&) = default;
};

struct CaseAndPlaceHash {
  std::size_t operator()(const CaseAndPlace& key) const {
    return hash_of_unlabelled(key.run_case) ^ hash_text(key.network, hash_text(key.fingerprint)) ^ key.provenance.bits();
  }
};

std::vector<Group> group_by_case(std::vector<RunMeasures> runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const RunMeasures& a, const RunMeasures& b) {
    return a.run.started_wall_ns < b.run.started_wall_ns;
  });
  std::map<std::string, Group> groups;
  std::unordered_map<CaseAndPlace, Group*, CaseAndPlaceHash> known;
  for (RunMeasures& run : runs) {
    Group*& group = known[CaseAndPlace(run.run)];
    if (group == nullptr) {
      group = &groups[defining_key(run.run)];
      group->fields = defining_fields(run.run);
    }
    group->runs.push_back(std::move(run));
  }
  std::vector<Group> ordered;
  for (auto& [key, group] : groups) ordered.push_back(std::move(group));
  std::stable_sort(ordered.begin(), ordered.end(), [](const Group& a, const Group& b) {
    return a.runs.back().run.started_wall_ns > b.runs.back().run.started_wall_ns;
  });
  return ordered;
}

/// Workload and size, which each label has.
std::pair<std::string, std::string> work_and_size(const Group& group) {
  const RunCase& run_case = group.runs.front().run.run_case;
  return {work_name(run_case.work), shape_label(run_case)};
}

/// Fields whose values differ between groups: they distinguish the series. A field that a group lacks is
/// empty there. `groups` is not empty.
std::set<std::string> distinguishing_fields(const std::vector<const Group*>& groups) {
  std::set<std::string> names;
  const auto text = [](const Group& group, const std::string& name) {
    const auto found = group.fields.find(name);
    return found == group.fields.end() ? std::string() : found->second.text;
  };
  for (const Group* group : groups) {
    for (const auto* fields : {&group->fields, &groups.front()->fields}) {
      for (const auto& [name, field] : *fields) {
        if (text(*group, name) != text(*groups.front(), name)) names.insert(name);
      }
    }
  }
  return names;
}

std::string label_of(const Group& group, const std::set<std::string>& distinguishing) {
  const auto [work, size] = work_and_size(group);
  std::string label = work + ", " + size;
  for (const std::string& name : distinguishing) {
    if (name == "workload" || name == "nodes" || name == "gpus_per_node" || name == "nodes_not_stated") continue;
    const auto field = group.fields.find(name);
    const std::string value = field == group.fields.end() || field->second.text.empty() ? "none" : field->second.text;
    if (name == "base_batch" && value == "0") continue;  // not set
    label += fmt::format(", {} {}", field_in_words(name), value);
  }
  return label;
}

/// For each run, the files that changed since the runs before it.
std::vector<std::vector<std::string>> edits_of(const Group& group) {
  std::vector<std::vector<std::string>> edits;
  ProgramFiles known;
  for (const RunMeasures& run : group.runs) {
    ProgramFiles files = program_files(run.run.environment.facts);
    edits.push_back(changed_files(known, files));
    files.merge(known);
    known = std::move(files);
  }
  return edits;
}

HistorySeries series_of(const Group& group, RunMetric metric, const std::set<std::string>& distinguishing,
                        const ChangePointOptions& options) {
  HistorySeries series;
  series.label = label_of(group, distinguishing);
  series.provenance = group.runs.front().run.provenance;
  std::vector<double> logarithms;
  const std::vector<std::vector<std::string>> edits = edits_of(group);
  std::vector<std::string> edited;  // since the last point
  for (std::size_t i = 0; i < group.runs.size(); ++i) {
    const RunMeasures& run = group.runs[i];
    edited.insert(edited.end(), edits[i].begin(), edits[i].end());
    if (!run[metric]) {
      ++series.unmeasured;
      continue;
    }
    series.points.push_back(
        {run.run.id, run.run.run_case.name, run.run.started_wall_ns, *run[metric], std::exchange(edited, {})});
    logarithms.push_back(std::log(comparable_value(run, metric)));
  }
  for (const ChangePoint& change : change_points(logarithms, options)) {
    series.changes.push_back({change.index, std::exp(change.before), std::exp(change.after), change.p_value,
                              lower_is_better(metric) == (change.after > change.before)});
  }
  return series;
}

/// Its runs stay one series, in which the edits are marked: a history should show the effect of an edit.
void note_edits(const Group& group, const std::string& label, std::vector<std::string>& notes) {
  const std::vector<std::vector<std::string>> edits = edits_of(group);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (!edits[i].empty())
      notes.push_back(
          fmt::format("{}: the script changed at run {}: {}", label, group.runs[i].run.id, files_in_words(edits[i])));
  }
}

/// Its edited runs, as points of their own.
Series edits_series(const HistorySeries& history, double factor) {
  Series edits{history.label + ": script changed", SeriesShape::kPoints, {}, history.provenance};
  for (std::size_t i = 0; i < history.points.size(); ++i) {
    const HistoryPoint& point = history.points[i];
    if (!point.edited.empty())
      edits.points.push_back({static_cast<double>(i + 1), point.value * factor, std::nullopt,
                              point.run + ", " + files_in_words(point.edited) + " changed"});
  }
  return edits;
}

/// The figure's unit, and the factor for stored values.
std::pair<std::string, double> figure_unit(RunMetric metric) {
  if (unit_of(metric) == "ns") return {"ms", 1e-6};
  if (unit_of(metric) == "bytes") return {"MB", 1e-6};
  return {std::string(unit_of(metric)), 1};
}

Series level_line(const HistorySeries& history, double factor) {
  Series line{history.label + ": level", SeriesShape::kLine, {}, history.provenance};
  double level = history.changes.front().before;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    for (const std::size_t index : {begin, end - 1}) {
      line.points.push_back(
          {static_cast<double>(index + 1), level * factor, std::nullopt, history.points[index].run});
    }
  };
  for (const LevelChange& change : history.changes) {
    add(change.index);
    begin = change.index;
    level = change.after;
  }
  add(history.points.size());
  return line;
}

}  // namespace

RunHistory run_history(std::vector<RunMeasures> runs, RunMetric metric, const ChangePointOptions& options) {
  RunHistory history;
  history.metric = metric;
  const std::vector<Group> groups = group_by_case(std::move(runs));
  std::map<std::pair<std::string, std::string>, std::vector<const Group*>> alike;
  for (const Group& group : groups) alike[work_and_size(group)].push_back(&group);
  std::map<std::pair<std::string, std::string>, std::set<std::string>> distinguishing;
  for (const auto& [key, peers] : alike) distinguishing[key] = distinguishing_fields(peers);
  for (const Group& group : groups) {
    history.series.push_back(series_of(group, metric, distinguishing[work_and_size(group)], options));
    note_edits(group, history.series.back().label, history.notes);
  }
  if (groups.empty()) history.notes.push_back("no finished run matches");
  for (const HistorySeries& series : history.series) {
    if (!series.points.empty() && series.points.size() < 2 * options.least_segment) {
      history.notes.push_back(fmt::format("{}: {} run(s), change points need {}", series.label,
                                          series.points.size(), 2 * options.least_segment));
    }
    if (series.unmeasured > 0) {
      history.notes.push_back(fmt::format("{}: {} run(s) did not measure {}", series.label, series.unmeasured,
                                          to_string(metric)));
    }
  }
  return history;
}

RunHistory run_history(const store::RunStore& store, RunMetric metric,
                       const std::vector<FieldCondition>& conditions, std::size_t limit,
                       const ChangePointOptions& options) {
  // One more than are shown, to know whether there are older ones.
  std::vector<store::RunRecord> runs = runs_where(store, conditions, limit == 0 ? 0 : limit + 1);
  const bool older = limit > 0 && runs.size() > limit;
  if (older) runs.erase(runs.begin());
  std::erase_if(
      runs, [](const store::RunRecord& run) { return run.state != store::RunState::kDone || !run.valid; });
  RunHistory history = run_history(measure_runs(store, runs), metric, options);
  if (older) {
    history.notes.push_back(
        fmt::format("only the newest {} runs are shown; --last N shows more, --last 0 all", limit));
  }
  return history;
}

Figure history_figure(const RunHistory& history) {
  const auto [unit, factor] = figure_unit(history.metric);
  Figure figure;
  std::string metric(to_string(history.metric));
  std::replace(metric.begin(), metric.end(), '_', ' ');
  figure.title = fmt::format("History of {}", metric);
  figure.x = {"run, oldest first", "1"};
  figure.y = {metric, unit};
  figure.notes = history.notes;
  for (const HistorySeries& series : history.series) {
    Series points{series.label, SeriesShape::kPoints, {}, series.provenance};
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      points.points.push_back(
          {static_cast<double>(i + 1), series.points[i].value * factor, std::nullopt, series.points[i].run});
    }
    if (!points.points.empty()) figure.series.push_back(std::move(points));
    if (Series edits = edits_series(series, factor); !edits.points.empty()) figure.series.push_back(std::move(edits));
    if (series.changes.empty()) continue;
    figure.series.push_back(level_line(series, factor));
    for (const LevelChange& change : series.changes) {
      figure.notes.push_back(fmt::format(
          "{}: {} by {} at run {} (p = {:.3f})", series.label, change.worse ? "worse" : "better",
          signed_percent(change.after / change.before - 1), series.points[change.index].run, change.p_value));
    }
  }
  return figure;
}

}  // namespace ddbench::analyzer
