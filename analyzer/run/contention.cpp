#include "analyzer/run/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/facts/facts.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

constexpr double kWidest = 7.389;  // e squared, of an interval's ends: beyond, it bounds nothing (mean_of_steps)
constexpr double kMuch_percent = 5;  // of a step, or of the processor time: visible in step times

std::string oversubscription(const RunSummary& summary) {
  const int ranks = ranks_on_fullest_host(summary);
  const std::int64_t cores = get_fact(summary.run.environment.facts, fact_key<"cpu.cores">).value_or(0);
  if (const auto others = get_fact(summary.run.environment.facts, fact_key<"cores.shared_with">)) return "ranks share cores with " + *others;
  if (cores <= 0 || ranks <= cores) return "ranks share cores or a GPU";
  return fmt::format("{} ranks share {} core{}", ranks, cores, cores == 1 ? "" : "s");
}

double worst(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

Measured<Estimate> slowdown_of(const Facts& facts) {
  const auto key = fact_key<"analysis.compute_slowdown_percent">;
  if (!has_fact(facts, key)) return Measured<Estimate>::missing("not measured when the run was stored");
  const Measured<FactEstimate> stored = get_fact(facts, key);
  if (!stored) return Measured<Estimate>::missing(stored.reason());
  if (1 + stored->high / 100 >= kWidest * (1 + stored->low / 100))
    return Measured<Estimate>::missing("operators scatter too much in these steps: measure more of them, or a longer warm-up");
  return Estimate{stored->value, {stored->low, stored->high, 0.95, "jackknife over groups of steps"}};
}

}  // namespace

int ranks_on_fullest_host(const RunSummary& summary) {
  std::map<std::string, int> ranks;
  int most = 0;
  for (const store::RankRecord& rank : summary.ranks) most = std::max(most, ++ranks[rank.host]);
  return most;
}

std::vector<std::string> overload_of(const RunSummary& summary) {
  const Facts& facts = summary.run.environment.facts;
  std::vector<std::string> clauses;
  if (summary.run.provenance.has(Provenance::kOversubscribed)) clauses.push_back(oversubscription(summary));
  const std::int64_t step_ns = summary.partition.total_ns();
  const auto waited_ns = summary.partition[store::StepPart::kCpuWait];
  const double waited = step_ns > 0 ? 100 * static_cast<double>(waited_ns) / static_cast<double>(step_ns) : 0;
  if (waited > kMuch_percent)
    clauses.push_back(fmt::format("threads waited for a core in {:.1f}% of a step", waited));
  if (const double stolen = worst(counted_values(facts, fact_key<"cpu.stolen_percent">));
      stolen > kMuch_percent)
    clauses.push_back(fmt::format("a hypervisor took {:.0f}% of the processor time", stolen));
  if (const double held = worst(counted_values(facts, fact_key<"cpu.throttled_percent">));
      held > kMuch_percent)
    clauses.push_back(
        fmt::format("a control group's CPU limit held threads up for {:.0f}% of the time", held));
  return clauses;
}

void add_contention(RunSummary& summary) {
  using Wait = Measured<std::int64_t>;
  const Facts& facts = summary.run.environment.facts;
  const auto why_not = get_fact(facts, fact_key<"cpu_wait.unavailable">);
  if (summary.probed_steps == 0) {
    summary.cpu_wait_ns = Wait::missing("no measured step with the probes on");
  } else if (has_fact(facts, fact_key<"analysis.cpu_wait">)) {
    summary.cpu_wait_ns = summary.partition[store::StepPart::kCpuWait];
  } else if (why_not) {
    summary.cpu_wait_ns = Wait::missing(*why_not);
  } else if (summary.run.provenance.has(Provenance::kImported)) {
    summary.cpu_wait_ns = Wait::missing("the imported data does not have it");
  } else if (is_program(summary.run.run_case)) {
    summary.cpu_wait_ns = Wait::missing("not every rank of the program recorded it");
  } else {
    summary.cpu_wait_ns = Wait::missing("not recorded");
  }
  const double spans = get_fact(facts, fact_key<"probe_cost.spans">).value_or(0);
  if (const auto hooks_ns = get_fact(facts, fact_key<"probe_cost.hooks_ns">)) {
    summary.probe_account_ns = *hooks_ns + get_fact(facts, fact_key<"probe_cost.drain_ns">).value_or(0);
  } else if (spans > 0) {
    summary.probe_account_ns = spans * get_fact(facts, fact_key<"probe_cost.push_ns">).value_or(0) +
                               get_fact(facts, fact_key<"probe_cost.drain_ns">).value_or(0) +
                               get_fact(facts, fact_key<"probe_cost.readings_ns">).value_or(0);
  }
  summary.compute_slowdown_percent = slowdown_of(facts);
}

Measured<FactEstimate> as_fact(const Measured<Estimate>& percent) {
  if (!percent) return Measured<FactEstimate>::missing(percent.reason());
  return FactEstimate{percent->value, percent->interval.low, percent->interval.high};
}

}  // namespace ddbench::analyzer
