#include "analyzer/scaling/curve_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kColours = 8;  ///< of reports/palette.h

using GroupKey = std::vector<std::string>;

GroupKey key_of(const store::RunRecord& run, const std::vector<std::string>& fields) {
  GroupKey key{work_name(run.run_case.work), std::string(to_string(run.run_case.scaling))};
  const auto values = run_fields(run);
  for (const std::string& field : fields) {
    const auto found = values.find(field);
    key.push_back(found == values.end() ? std::string() : found->second.text);
  }
  return key;
}

/// The key of each run, at the run's index: the fields of a run are expensive to build, and are compared with
/// the keys of all groups.
std::vector<GroupKey> keys_of_runs(std::span<const store::RunRecord> runs, const std::vector<std::string>& fields) {
  std::vector<GroupKey> keys;
  for (const store::RunRecord& run : runs) keys.push_back(key_of(run, fields));
  return keys;
}

bool fits(const store::RunRecord& run, const GroupKey& own, const GroupKey& key,
          const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != key[i] && !(i >= 2 && !applies(run, fields[i - 2]))) return false;
  }
  return true;
}

/// Runs to which every field applies come first: a run with a field that does not apply is then assigned to
/// their groups.
std::vector<GroupKey> keys_of(std::span<const store::RunRecord> runs, const std::vector<GroupKey>& own,
                              const std::vector<std::string>& fields) {
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> by_open;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    by_open.emplace_back(std::count_if(fields.begin(), fields.end(),
                                       [&](const std::string& field) { return !applies(runs[i], field); }),
                         i);
  }
  std::stable_sort(by_open.begin(), by_open.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<GroupKey> keys;
  for (const auto& [open, i] : by_open) {
    const bool taken = std::any_of(keys.begin(), keys.end(), [&, place = i](const GroupKey& key) {
      return fits(runs[place], own[place], key, fields);
    });
    if (!taken) keys.push_back(own[i]);
  }
  return keys;
}

/// Only the values in which the keys differ.
std::vector<std::string> labels_of(const std::vector<GroupKey>& keys,
                                   const std::vector<std::string>& fields) {
  std::vector<std::string> labels(keys.size());
  for (std::size_t i = 0; !keys.empty() && i < keys.front().size(); ++i) {
    const bool same =
        std::all_of(keys.begin(), keys.end(), [&](const GroupKey& key) { return key[i] == keys[0][i]; });
    if (same) continue;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const std::string value = keys[k][i].empty() ? "no " + fields[i - 2] : keys[k][i];
      const bool plain = i < 2 || keys[k][i].empty() || fields[i - 2] == "link" || fields[i - 2] == "sku";
      labels[k] += (labels[k].empty() ? "" : ", ") + (plain ? value : fields[i - 2] + " " + value);
    }
  }
  return labels;
}

/// Series of all groups, laid together.
struct MergedSeries {
  Series ideal;  ///< the longest
  std::vector<Series> measured;
  std::vector<Series> laws;  ///< one per group; empty if there is none
};

void merge(const std::string& label, Figure figure, MergedSeries& merged) {
  Series law;
  for (Series& series : figure.series) {
    if (series.name == "ideal") {
      if (merged.ideal.points.empty() || series.points.back().x > merged.ideal.points.back().x) {
        merged.ideal = std::move(series);
      }
    } else if (series.name == "measured") {
      series.name = label;
      merged.measured.push_back(std::move(series));
    } else {
      law = std::move(series);
      law.name = label + ": " + law.name;
    }
  }
  merged.laws.push_back(std::move(law));
}

Figure merged_figure(const CurveGroups& groups, Figure (*figure_of)(const ScalingCurve&)) {
  Figure all = figure_of(groups.groups.front().curve);
  if (groups.groups.size() == 1) {
    all.notes.insert(all.notes.end(), groups.notes.begin(), groups.notes.end());
    return all;
  }
  MergedSeries merged;
  all.notes = groups.notes;
  for (const CurveGroup& group : groups.groups) {
    Figure figure = figure_of(group.curve);
    for (const std::string& note : figure.notes) all.notes.push_back(group.label + ": " + note);
    merge(group.label, std::move(figure), merged);
  }
  const bool one_ideal =
      std::all_of(groups.groups.begin(), groups.groups.end(), [&](const CurveGroup& group) {
        return group.curve.baseline_gpus == groups.groups.front().curve.baseline_gpus;
      });
  if (!one_ideal) {
    merged.ideal = Series{};
    all.notes.insert(all.notes.begin(),
                     "no ideal line: the curves are stated against different numbers of GPUs");
  }
  all.series.clear();
  all.series.push_back(std::move(merged.ideal));
  std::move(merged.measured.begin(), merged.measured.end(), std::back_inserter(all.series));
  // Colours go round: a law has that of its points when it comes a whole round after them.
  if (groups.groups.size() < kColours) all.series.resize(kColours + 1);
  std::move(merged.laws.begin(), merged.laws.end(), std::back_inserter(all.series));
  return all;
}

}  // namespace

std::vector<std::string> varied_fields(std::span<const store::RunRecord> runs, const VariedFields& varied) {
  std::vector<std::string> fields;
  for (const auto& [name, values] : differing_fields(runs, varied)) {
    if (name != "workload" && name != "scaling")
      fields.push_back(name);  // curve_groups always splits by these
  }
  return fields;
}

CurveGroups curve_groups(const store::RunStore& store, std::span<const store::RunRecord> runs,
                         const std::vector<std::string>& fields, const CurveOptions& options) {
  for (const std::string& field : fields) {
    if (!is_run_field(field))
      throw Error(ErrorCode::kBadInput, "runs have no field \"" + field + "\" to split curves by");
  }
  const std::vector<GroupKey> own = keys_of_runs(runs, fields);
  const std::vector<GroupKey> keys = keys_of(runs, own, fields);
  const std::vector<std::string> labels = labels_of(keys, fields);
  CurveGroups result;
  std::string reasons;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::vector<store::RunRecord> group;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (fits(runs[run], own[run], keys[i], fields)) group.push_back(runs[run]);
    }
    try {
      result.groups.push_back({labels[i], scaling_curve(store, group, options)});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadInput) throw;
      result.notes.push_back(labels[i].empty() ? error.message() : labels[i] + ": " + error.message());
      reasons += (reasons.empty() ? "" : "; ") + result.notes.back();
    }
  }
  if (result.groups.empty()) {
    throw Error(ErrorCode::kBadInput,
                reasons.empty() ? "there are no runs to draw a scaling curve of" : reasons);
  }
  return result;
}

Figure speedup_figure(const CurveGroups& groups) {
  return merged_figure(groups, speedup_figure);
}

Figure efficiency_figure(const CurveGroups& groups) {
  return merged_figure(groups, efficiency_figure);
}

}  // namespace ddbench::analyzer
