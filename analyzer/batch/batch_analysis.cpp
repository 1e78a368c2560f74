#include "analyzer/batch/batch_analysis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/batch/batch_rows.h"
#include "analyzer/run/run_fields.h"
#include "analyzer/run/usable_runs.h"
#include "core/error.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr double kLeastReturn = 0.5 - 1e-9;  // one half, allowing for rounding

/// Fields that may vary within one law of steps over batches: those that vary on a curve, where the run took
/// place, and those that follow from the batch.
VariedFields within_law() {
  VariedFields varied = kWithinCurve;
  varied.roles.insert(FieldRole::kPlace);
  varied.names = {"batch_per_gpu", "scaling", "accumulate", "lr"};
  return varied;
}

/// By the fields in which the runs differ: "lr_rule=sqrt optimizer=lars".
std::map<std::string, std::vector<store::RunRecord>> by_variant(const std::vector<store::RunRecord>& runs) {
  const VariedFields varied = within_law();
  const auto differing = differing_fields(runs, varied);
  std::map<std::string, std::vector<store::RunRecord>> result;
  for (const store::RunRecord& run : runs) {
    std::string variant;
    for (const auto& [name, text] : group_fields(run, varied)) {
      if (differing.contains(name)) variant += fmt::format("{}{}={}", variant.empty() ? "" : " ", name, text);
    }
    result[variant].push_back(run);
  }
  return result;
}

BatchRun read_run(const store::RunStore& store, const RunSummary& summary) {
  BatchRun run;
  run.run = summary.run;
  run.step_time_ns = summary.step_time_ns ? summary.step_time_ns->value : 0;
  run.steps = steps_towards_target(store, summary.run);
  run.norms = gradient_norms(store, summary.run);
  return run;
}

/// Whether their times differ for their sizes only.
bool same_place(const RunCase& a, const RunCase& b) {
  const bool same_network = a.nodes == 1 || b.nodes == 1 || (a.link == b.link && a.requested_network == b.requested_network);
  return a.sku == b.sku && same_network && a.accumulate == b.accumulate;
}

void set_returns(std::vector<BatchRow>& rows) {
  for (BatchRow& row : rows) {
    const BatchRow* before = nullptr;
    for (const BatchRow& other : rows) {
      const bool smaller = other.run_case.batch_per_gpu == row.run_case.batch_per_gpu &&
                           same_place(other.run_case, row.run_case) && other.world_size < row.world_size && other.time_s;
      if (smaller && (before == nullptr || other.world_size > before->world_size)) before = &other;
    }
    if (before == nullptr || !row.time_s) continue;
    const double more = static_cast<double>(row.world_size) / before->world_size;
    row.return_of_added = (*before->time_s / *row.time_s - 1) / (more - 1);
  }
}

/// Rows are sorted by GPUs: for one batch per GPU, follow the sizes until adding GPUs no longer pays.
void set_pays_up_to(BatchCurve& curve) {
  std::map<std::int64_t, double> paying;  // by batch per GPU
  std::set<std::int64_t> over;
  for (const BatchRow& row : curve.rows) {
    const std::int64_t per_gpu = row.run_case.batch_per_gpu;
    if (!row.return_of_added || over.contains(per_gpu)) continue;
    if (!paying.contains(per_gpu)) paying[per_gpu] = 0;
    if (*row.return_of_added < kLeastReturn) {
      over.insert(per_gpu);
    } else {
      paying[per_gpu] = static_cast<double>(row.global_batch);
    }
  }
  double best = 0;
  for (const auto& [per_gpu, batch] : paying) best = std::max(best, batch);
  if (paying.empty()) {
    curve.pays_up_to = Measured<double>::missing(
        "it takes several numbers of GPUs with one batch per GPU; without any loss of scaling it would be "
        "the critical batch");
  } else if (best == 0) {
    curve.pays_up_to = Measured<double>::missing("no added GPUs returned half of their share");
  } else {
    curve.pays_up_to = best;
    if (over.empty())
      curve.notes.push_back(fmt::format("more GPUs still paid at the largest batch measured, {}", number(best, 1)));
  }
}

void fit(BatchCurve& curve) {
  std::map<std::int64_t, StepsToTarget> by_batch;
  for (const BatchRow& row : curve.rows) {
    StepsToTarget& point = by_batch[row.global_batch];
    point.global_batch = static_cast<double>(row.global_batch);
    point.steps.insert(point.steps.end(), row.run_steps.begin(), row.run_steps.end());
    point.unreached_after.insert(point.unreached_after.end(), row.unreached_after.begin(),
                                 row.unreached_after.end());
  }
  for (auto& [batch, point] : by_batch) curve.points.push_back(std::move(point));
  curve.critical = fit_critical_batch(curve.points);
}

BatchCurve curve_of(const store::RunStore& store, const std::string& variant,
                    const std::vector<store::RunRecord>& runs, const SkuCatalogue& catalogue) {
  BatchCurve curve;
  curve.variant = variant;
  std::map<std::pair<int, std::int64_t>, std::vector<BatchRun>> by_size;
  for (const RunSummary& summary : usable_summaries(store, runs, Figures::kRate, curve.notes)) {
    const RunCase& run_case = summary.run.run_case;
    by_size[{run_case.world_size(), run_case.global_batch()}].push_back(read_run(store, summary));
  }
  for (auto& [size, of_size] : by_size)
    curve.rows.push_back(batch_row(std::move(of_size), catalogue, curve.notes));
  set_returns(curve.rows);
  if (!curve.rows.empty() && curve.rows.front().run_case.target_loss > 0) {
    fit(curve);
    set_pays_up_to(curve);
  } else {
    curve.critical = Measured<CriticalBatch>::missing("no target (--target-loss)");
    curve.pays_up_to = Measured<double>::missing("no target (--target-loss)");
  }
  return curve;
}

double common_target(std::span<const store::RunRecord> runs) {
  std::set<double> targets;
  for (const store::RunRecord& run : runs) targets.insert(run.run_case.target_loss);
  targets.erase(0);
  if (targets.size() < 2) return targets.empty() ? 0 : *targets.begin();
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "the runs have different target losses ({}), so that their steps cannot be compared: choose "
          "one with --where target_loss=X",
          fmt::join(targets, ", ")));
}

bool has_result(const BatchCurve& curve) {
  return std::any_of(curve.rows.begin(), curve.rows.end(),
                     [](const BatchRow& row) { return row.run_case.target_loss > 0 || bool(row.noise); });
}

}  // namespace

BatchAnalysis batch_analysis(const store::RunStore& store, std::span<const store::RunRecord> runs,
                             const SkuCatalogue& catalogue) {
  BatchAnalysis analysis;
  analysis.target_loss = common_target(runs);
  std::vector<store::RunRecord> wanted;
  for (const store::RunRecord& run : runs) {
    if (run.run_case.target_loss == analysis.target_loss) wanted.push_back(run);
  }
  if (wanted.size() < runs.size()) {
    analysis.notes.push_back(
        fmt::format("{} run(s) without a target loss are left out", runs.size() - wanted.size()));
  }
  for (const auto& [variant, of_variant] : by_variant(wanted)) {
    BatchCurve curve = curve_of(store, variant, of_variant, catalogue);
    if (has_result(curve)) {
      analysis.curves.push_back(std::move(curve));
    } else {
      analysis.notes.insert(analysis.notes.end(), curve.notes.begin(), curve.notes.end());
    }
  }
  if (!analysis.curves.empty()) return analysis;
  throw Error(ErrorCode::kBadInput,
              "no batch analysis possible: it needs runs with --target-loss, or runs on several ranks (gradient noise)" +
                  (analysis.notes.empty() ? "" : ": " + analysis.notes.back()));
}

Figure batch_figure(const BatchCurve& curve) {
  if (curve.critical) return critical_batch_figure(curve.points, *curve.critical);
  Figure figure = critical_batch_figure(curve.points, CriticalBatch{});
  std::erase_if(figure.series, [](const Series& series) { return series.name.ends_with("fitted"); });
  figure.notes.push_back("no curve: " + curve.critical.reason());
  return figure;
}

}  // namespace ddbench::analyzer
