#include "analyzer/scaling/scaling_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/run/case_figures.h"
#include "analyzer/run/gpu_count.h"
#include "analyzer/run/run_reference.h"
#include "analyzer/scaling/curve_compatibility.h"
#include "analyzer/scaling/curve_rows.h"
#include "core/error.h"
#include "core/run_case/program_files.h"

namespace ddbench::analyzer {
namespace {

constexpr int kStepsForStragglers = 500;

[[noreturn]] void throw_bad(const std::string& message) {
  throw Error(ErrorCode::kBadInput, message);
}

/// The runs on one GPU that this run could be stated against: of its own sweep, else of the whole store.
std::vector<store::RunRecord> one_gpu_runs(const store::RunStore& store, const store::RunRecord& run) {
  store::Query query;
  query.state = store::RunState::kDone;
  query.case_key = case_key(baseline_case(run.run_case));
  query.fingerprint = run.environment.fingerprint;
  query.sweep_id = run.sweep_id;
  std::vector<store::RunRecord> found = store.runs(query);
  if (found.empty() && !run.sweep_id.empty()) {
    query.sweep_id.clear();
    found = store.runs(query);
  }
  std::erase_if(found, [&](const store::RunRecord& baseline) {
    return !changed_files(baseline.environment.facts, run.environment.facts).empty();
  });
  return found;
}

/// Oldest first, including the baselines against which the runs were stated; if there are none of these and
/// no run on one GPU, including possible baselines.
std::vector<store::RunRecord> with_baselines(const store::RunStore& store,
                                             std::span<const store::RunRecord> runs) {
  std::vector<store::RunRecord> all(runs.begin(), runs.end());
  std::set<store::RunId> known;
  for (const store::RunRecord& run : runs) known.insert(run.id);
  for (const store::RunRecord& run : runs) {
    if (run.baseline_id.empty() || !known.insert(run.baseline_id).second) continue;
    if (auto baseline = store.run(run.baseline_id)) all.push_back(*std::move(baseline));
  }
  const bool any_on_one_gpu =
      std::any_of(all.begin(), all.end(), [](const auto& run) { return run.run_case.world_size() == 1; });
  if (!any_on_one_gpu) {
    for (store::RunRecord& baseline : one_gpu_runs(store, runs.front())) all.push_back(std::move(baseline));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.started_wall_ns < b.started_wall_ns; });
  return all;
}

class CurveBuilder {
 public:
  CurveBuilder(const store::RunStore& store, const CurveOptions& options)
      : store_(store),
        options_(options),
        own_catalogue_(options.catalogue == nullptr ? SkuCatalogue::builtin() : SkuCatalogue()) {}

  ScalingCurve build(std::span<const store::RunRecord> chosen) {
    if (chosen.empty())
      throw_bad(fmt::format("no runs to make a scaling curve of are in {}", store_.file().string()));
    const std::vector<store::RunRecord> runs = with_baselines(store_, chosen);
    require_one_curve(runs, options_.if_several);
    const std::vector<SizeGroup> all = group_by_size(store_, runs, curve_.notes);
    std::vector<SizeGroup> groups;
    for (const SizeGroup& group : all) {
      if (!group.usable.empty()) groups.push_back(group);
    }
    if (groups.empty()) {
      throw_bad(fmt::format("none of the {} runs gave figures: {}", runs.size(),
                            curve_.notes.empty() ? "they are not done" : curve_.notes.front()));
    }
    curve_.mode = runs.front().run_case.scaling;
    std::vector<CaseFigures> figures;
    for (const SizeGroup& group : groups) {
      figures.push_back(case_figures(group.usable));
      curve_.rows.push_back(curve_row(store_, figures.back(), group, catalogue()));
    }
    const CaseFigures baseline = find_baseline(groups, figures);
    curve_.baseline_gpus = baseline.run_case.world_size();
    curve_.baseline_run_samples_per_s = baseline.run_samples_per_s;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      state_against(baseline, figures[i], curve_.rows[i]);
      const double n = static_cast<double>(curve_.rows[i].world_size) / curve_.baseline_gpus;
      const std::string doubt = doubt_about_efficiency(curve_.rows[i].efficiency, n);
      if (!doubt.empty()) curve_.notes.push_back(fmt::format("{}: {}", gpus(curve_.rows[i].world_size), doubt));
    }
    fit(runs);
    curve_.stragglers = find_stragglers(store_, curve_.rows.back().runs.back(), kStepsForStragglers);
    return std::move(curve_);
  }

 private:
  const SkuCatalogue& catalogue() const {
    return options_.catalogue == nullptr ? own_catalogue_ : *options_.catalogue;
  }

  /// Index into the groups, or -1.
  int index_of_baseline(const std::vector<SizeGroup>& groups) const {
    const auto find = [&](auto&& wanted) {
      const auto found =
          std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return wanted(g.run_case()); });
      return found == groups.end() ? -1 : static_cast<int>(found - groups.begin());
    };
    const auto one_gpu = [](const RunCase& run_case) { return run_case.world_size() == 1; };
    if (options_.baseline.empty()) return std::max(0, find(one_gpu));
    if (options_.baseline == "smallest") return 0;
    if (options_.baseline == "1") return find(one_gpu);
    const int per_node = groups.back().run_case().gpus_per_node;
    return find(
        [&](const RunCase& run_case) { return is_one_node(run_case) && run_case.gpus_per_node == per_node; });
  }

  CaseFigures find_baseline(const std::vector<SizeGroup>& groups, const std::vector<CaseFigures>& figures) {
    const std::string& wanted = options_.baseline;
    if (!wanted.empty() && wanted != "1" && wanted != "node" && wanted != "smallest")
      return referenced_baseline();
    const int index = index_of_baseline(groups);
    if (index < 0) {
      std::string sizes;
      for (const SizeGroup& group : groups) {
        sizes += (sizes.empty() ? "" : ", ") + shape_label(group.run_case());
      }
      throw_bad(fmt::format("--baseline {}: there are no such runs; nodes × GPUs of the curve are {}", wanted,
                            sizes));
    }
    CurveRow& row = curve_.rows[static_cast<std::size_t>(index)];
    row.is_baseline = true;
    curve_.baseline = in_words(row.run_case, row.runs);
    return figures[static_cast<std::size_t>(index)];
  }

  static std::string in_words(const RunCase& run_case, const std::vector<store::RunId>& runs) {
    return fmt::format("{} (run {}{})", gpus(run_case.world_size()), runs.front(),
                       runs.size() > 1 ? fmt::format(" and {} more", runs.size() - 1) : "");
  }

  CaseFigures referenced_baseline() {
    const ResolvedReference reference = resolve_reference(store_, options_.baseline);
    if (reference.runs.empty())
      throw_bad(fmt::format("--baseline {}: {}", options_.baseline, reference.missing));
    const std::vector<SizeGroup> groups = group_by_size(store_, reference.runs, curve_.notes);
    if (groups.size() != 1 || groups.front().usable.empty()) {
      throw_bad(fmt::format("--baseline {}: {} cannot be a baseline: {}", options_.baseline,
                            reference.meaning,
                            groups.size() > 1 ? "they are of several sizes" : "none of them gave figures"));
    }
    CaseFigures figures = case_figures(groups.front().usable);
    curve_.baseline = fmt::format("{}: {}", reference.meaning, in_words(figures.run_case, figures.runs));
    return figures;
  }

  void fit(const std::vector<store::RunRecord>& runs) {
    const std::string skus = several_skus(runs);
    if (!skus.empty()) {
      curve_.notes.push_back(skus + ". Speedup and efficiency include the difference between these machines");
      curve_.model = Measured<ModelChoice>::missing("no law is fitted to machines of " + skus);
    }
    const std::string mixed = mixed_provenance(runs);
    if (!mixed.empty()) curve_.notes.push_back("provenances are mixed: " + mixed);
    if (!skus.empty()) curve_.why_not_predicted = "the runs are of several machines: " + skus;
    if (!mixed.empty() && !options_.any_provenance) {
      curve_.why_not_predicted = "provenances are mixed: " + mixed + " (--any-provenance predicts all the same)";
      curve_.model = Measured<ModelChoice>::missing(fmt::format(
          "no law is fitted to mixed provenances: {} (--any-provenance fits one all the same)", mixed));
      return;
    }
    if (!skus.empty()) return;
    std::vector<ScalingPoint> points;
    for (const CurveRow& row : curve_.rows)
      points.push_back({static_cast<double>(row.world_size), row.run_samples_per_s});
    curve_.model = choose_scaling_model(points, curve_.mode == ScalingMode::kWeak);
    curve_.predictions = predictions_of(curve_, options_);
  }

  const store::RunStore& store_;
  const CurveOptions& options_;
  SkuCatalogue own_catalogue_;
  ScalingCurve curve_;
};

}  // namespace

bool ScalingCurve::counts_samples() const {
  return std::all_of(rows.begin(), rows.end(), [](const CurveRow& row) { return row.without_samples.empty(); });
}

double ScalingCurve::speedup_of(double samples_per_s) const {
  // The baseline's figure can be computed from any row.
  return rows.empty() ? 0 : samples_per_s * rows.front().speedup / rows.front().samples_per_s;
}

ScalingCurve scaling_curve(const store::RunStore& store, std::span<const store::RunRecord> runs,
                           const CurveOptions& options) {
  return CurveBuilder(store, options).build(runs);
}

}  // namespace ddbench::analyzer
