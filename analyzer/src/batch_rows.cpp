#include "batch_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "ddbench/analyzer/statistics.h"
#include "run_groups.h"

namespace ddbench::analyzer {
namespace {

std::vector<double> steps_of(const std::vector<BatchRun>& runs) {
  std::vector<double> steps;
  for (const BatchRun& run : runs) {
    if (run.steps) steps.push_back(*run.steps);
  }
  return steps;
}

/// By steps, where more runs got there first.
bool is_better(const std::vector<BatchRun>& a, const std::vector<BatchRun>& b) {
  const auto rank = [](const std::vector<BatchRun>& runs) {
    const std::vector<double> steps = steps_of(runs);
    const double reached = static_cast<double>(steps.size()) / static_cast<double>(runs.size());
    return std::pair(-reached, steps.empty() ? std::numeric_limits<double>::max() : mean(steps));
  };
  return rank(a) < rank(b);
}

std::vector<BatchRun> best_learning_rate(std::vector<BatchRun> runs, std::vector<std::string>& notes) {
  std::map<double, std::vector<BatchRun>> by_rate;
  for (BatchRun& run : runs) by_rate[run.run.run_case.lr].push_back(std::move(run));
  auto best = by_rate.begin();
  for (auto rate = by_rate.begin(); rate != by_rate.end(); ++rate) {
    if (is_better(rate->second, best->second)) best = rate;
  }
  if (by_rate.size() > 1) {
    notes.push_back(fmt::format("batch {}: of {} learning rates the best one, {}, counts",
                                best->second.front().run.run_case.global_batch(), by_rate.size(),
                                best->first));
    if (best == by_rate.begin() || best == std::prev(by_rate.end()))
      notes.back() += "; it is the edge of those tried: a better one may lie beyond it";
  }
  return std::move(best->second);
}

Measured<double> hourly_price(const RunCase& run_case, const SkuCatalogue& catalogue) {
  if (run_case.sku.empty()) return Measured<double>::missing("the runs name no SKU (--sku)");
  const Sku* sku = catalogue.find_sku(run_case.sku);
  if (sku == nullptr) return Measured<double>::missing("SKU " + run_case.sku + " is not in the catalogue");
  if (!sku->price_usd_per_h) return sku->price_usd_per_h;
  return *sku->price_usd_per_h * run_case.nodes;
}

Measured<NoiseScale> noise_of(const std::vector<BatchRun>& runs, const RunCase& run_case) {
  if (run_case.world_size() < 2) return Measured<NoiseScale>::missing("one rank: nothing to compare");
  std::vector<GradientNorms> norms;
  for (const BatchRun& run : runs) norms.insert(norms.end(), run.norms.begin(), run.norms.end());
  if (norms.empty()) return Measured<NoiseScale>::missing("no gradient norms were stored");
  return gradient_noise_scale(norms, static_cast<double>(run_case.batch_per_gpu),
                              static_cast<double>(run_case.global_batch()));
}

void set_totals(const SkuCatalogue& catalogue, BatchRow& row) {
  row.steps = mean(row.run_steps);
  row.samples = *row.steps * static_cast<double>(row.global_batch);
  if (!row.step_time_ns) {
    row.time_s = row.gpu_hours = row.usd = Measured<double>::missing(row.step_time_ns.reason());
    return;
  }
  row.time_s = *row.steps * *row.step_time_ns * 1e-9;
  row.gpu_hours = *row.time_s * row.world_size / 3600;
  const Measured<double> price = hourly_price(row.run_case, catalogue);
  row.usd = price ? Measured<double>(*price * *row.time_s / 3600) : price;
}

}  // namespace

BatchRow batch_row(std::vector<BatchRun> runs, const SkuCatalogue& catalogue,
                   std::vector<std::string>& notes) {
  runs = best_learning_rate(std::move(runs), notes);
  BatchRow row;
  row.run_case = runs.front().run.run_case;
  row.global_batch = row.run_case.global_batch();
  row.world_size = row.run_case.world_size();
  row.run_steps = steps_of(runs);
  std::vector<double> step_times;
  for (const BatchRun& run : runs) {
    row.runs.push_back(run.run.id);
    row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | run.run.provenance.bits());
    if (run.step_time_ns > 0) step_times.push_back(run.step_time_ns);
  }
  row.missed = static_cast<int>(runs.size() - row.run_steps.size());
  row.step_time_ns = geometric_mean(step_times, "no steps");
  row.noise = noise_of(runs, row.run_case);
  if (!row.run_steps.empty()) set_totals(catalogue, row);
  return row;
}

}  // namespace ddbench::analyzer
