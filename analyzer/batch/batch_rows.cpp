#include "analyzer/batch/batch_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analyzer/cost/cost.h"
#include "analyzer/run/applied_rate.h"
#include "analyzer/run/run_fields.h"
#include "analyzer/run/usable_runs.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

std::vector<double> steps_of(const std::vector<BatchRun>& runs) {
  std::vector<double> steps;
  for (const BatchRun& run : runs) {
    if (run.steps && run.steps->reached) steps.push_back(run.steps->steps);
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

using RunsByRate = std::map<double, std::vector<BatchRun>>;

/// Every second run of each rate, from the first or the second on.
RunsByRate half_of(const RunsByRate& by_rate, std::size_t from) {
  RunsByRate half;
  for (const auto& [rate, runs] : by_rate) {
    for (std::size_t i = from; i < runs.size(); i += 2) half[rate].push_back(runs[i]);
  }
  return half;
}

double best_rate(const RunsByRate& by_rate) {
  auto best = by_rate.begin();
  for (auto rate = by_rate.begin(); rate != by_rate.end(); ++rate) {
    if (is_better(rate->second, best->second)) best = rate;
  }
  return best->first;
}

/// The best rate of each half of the runs, judged by its runs of the other half: the runs that selected a rate
/// flatter it.
std::vector<BatchRun> best_learning_rate(std::vector<BatchRun> runs, std::vector<std::string>& notes) {
  RunsByRate by_rate;
  for (BatchRun& run : runs) by_rate[run.run.run_case.lr].push_back(std::move(run));
  if (by_rate.size() == 1) return std::move(by_rate.begin()->second);
  std::vector<BatchRun> judging;
  std::set<double> chosen;
  for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
    const RunsByRate selecting = half_of(by_rate, half);
    RunsByRate others = half_of(by_rate, 1 - half);
    if (selecting.empty()) continue;
    const double rate = best_rate(selecting);
    if (others[rate].empty()) continue;
    chosen.insert(rate);
    judging.insert(judging.end(), others[rate].begin(), others[rate].end());
  }
  std::string how = "chosen on half of the runs and judged on the others";
  if (judging.empty()) {
    chosen = {best_rate(by_rate)};
    judging = by_rate[*chosen.begin()];
    how = "chosen and judged on the same runs, which flatters it (--repeat 2)";
  }
  notes.push_back(fmt::format("batch {}: of {} learning rates the best one, {}, counts: {}",
                              judging.front().run.run_case.global_batch(), by_rate.size(),
                              fmt::join(chosen, " or "), how));
  if (chosen.contains(by_rate.begin()->first) || chosen.contains(by_rate.rbegin()->first))
    notes.back() += "; it is the edge of those tried: a better one may lie beyond it";
  return judging;
}

Measured<double> hourly_price(const RunCase& run_case, const SkuCatalogue& catalogue) {
  if (run_case.sku.empty()) return Measured<double>::missing("the runs name no SKU (--sku)");
  const Sku* sku = catalogue.find_sku(run_case.sku);
  if (sku == nullptr) return Measured<double>::missing("SKU " + run_case.sku + " is not in the catalogue");
  if (!sku->price_usd_per_h) return sku->price_usd_per_h;
  const Measured<int> nodes = nodes_to_rent(run_case);
  return nodes ? Measured<double>(*sku->price_usd_per_h * *nodes) : Measured<double>::missing(nodes.reason());
}

Measured<NoiseScale> noise_of(const std::vector<BatchRun>& runs, const RunCase& run_case) {
  if (run_case.world_size() < 2) return Measured<NoiseScale>::missing("one rank: nothing to compare");
  std::vector<std::vector<GradientNorms>> norms;
  for (const BatchRun& run : runs) {
    if (!run.norms.empty()) norms.push_back(run.norms);
  }
  if (norms.empty()) return Measured<NoiseScale>::missing("no gradient norms were stored");
  return gradient_noise_scale(norms, static_cast<double>(run_case.batch_per_gpu),
                              static_cast<double>(run_case.global_batch()));
}

/// Steps to the target are those of the batch wherever the runs took place; their time is not. Empty where one time stands for
/// all runs.
std::string several_places(const std::vector<BatchRun>& runs) {
  std::vector<store::RunRecord> records;
  for (const BatchRun& run : runs) records.push_back(run.run);
  const VariedFields varied{{FieldRole::kSampling, FieldRole::kEnvironment, FieldRole::kConsequence},
                            {"batch_per_gpu", "global_batch", "scaling", "lr"}};
  std::vector<std::string> names;
  for (const auto& [name, values] : differing_fields(records, varied)) names.push_back(name);
  if (names.empty()) return {};
  return fmt::format("the runs differ in {}: choose with --where {}=...", fmt::join(names, ", "), names.front());
}

void set_totals(const SkuCatalogue& catalogue, BatchRow& row) {
  row.steps = censored_mean(row.run_steps, row.unreached_after);
  if (!row.steps) {
    row.samples = row.time_s = row.gpu_hours = Measured<double>::missing(row.steps.reason());
    return;
  }
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
  row.applied_rate = applied_learning_rate(runs.front().run);
  row.global_batch = row.run_case.global_batch();
  row.world_size = row.run_case.world_size();
  row.run_steps = steps_of(runs);
  std::vector<double> step_times;
  for (const BatchRun& run : runs) {
    row.runs.push_back(run.run.id);
    row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | run.run.provenance.bits());
    if (run.steps && !run.steps->reached) row.unreached_after.push_back(run.steps->steps);
    if (run.step_time_ns > 0) step_times.push_back(run.step_time_ns);
  }
  row.missed = static_cast<int>(runs.size() - row.run_steps.size());
  const std::string places = several_places(runs);
  row.step_time_ns = places.empty() ? geometric_mean(step_times, "no steps") : Measured<double>::missing(places);
  row.noise = noise_of(runs, row.run_case);
  if (!row.run_steps.empty()) set_totals(catalogue, row);
  return row;
}

}  // namespace ddbench::analyzer
