#include "analyzer/run/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "analyzer/run/analysis_facts.h"
#include "core/number.h"
#include "core/probe_cost.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

constexpr double kMuch_percent = 5;  // of a step, or of the processor time: visible in step times

std::string oversubscription(const RunSummary& summary) {
  const int ranks = ranks_on_fullest_host(summary);
  const std::int64_t cores = numeric_fact(summary.run, "cpu.cores");
  if (cores <= 0 || ranks <= cores) return "ranks share cores or a GPU";
  return fmt::format("{} ranks share {} core{}", ranks, cores, cores == 1 ? "" : "s");
}

/// The largest value among machines of a fact that each machine counted.
double worst_counted(const store::RunRecord& run, const std::string& name) {
  double worst = 0;
  for (const auto& [fact, value] : run.environment.facts) {
    if (fact.starts_with("counted.") && fact.ends_with("." + name))
      worst = std::max(worst, number_from<double>(value).value_or(0));
  }
  return worst;
}

std::string fact_of(const store::RunRecord& run, const char* name) {
  const auto found = run.environment.facts.find(name);
  return found == run.environment.facts.end() ? std::string() : found->second;
}

Measured<Estimate> slowdown_from(const std::string& fact) {
  if (fact.empty()) return Measured<Estimate>::missing("not measured when the run was stored");
  std::istringstream text(fact);
  Estimate percent;
  if (!(text >> percent.value >> percent.interval.low >> percent.interval.high))
    return Measured<Estimate>::missing(fact);
  percent.interval.method = "jackknife over groups of steps";
  return percent;
}

}  // namespace

int ranks_on_fullest_host(const RunSummary& summary) {
  std::map<std::string, int> ranks;
  int most = 0;
  for (const store::RankRecord& rank : summary.ranks) most = std::max(most, ++ranks[rank.host]);
  return most;
}

std::vector<std::string> overload_of(const RunSummary& summary) {
  std::vector<std::string> clauses;
  if (summary.run.provenance.has(Provenance::kOversubscribed)) clauses.push_back(oversubscription(summary));
  const std::int64_t step_ns = summary.partition.total_ns();
  const auto waited_ns = summary.partition[store::StepPart::kCpuWait];
  const double waited = step_ns > 0 ? 100 * static_cast<double>(waited_ns) / static_cast<double>(step_ns) : 0;
  if (waited > kMuch_percent)
    clauses.push_back(fmt::format("threads waited for a core in {:.1f} % of a step", waited));
  if (const double stolen = worst_counted(summary.run, "cpu.stolen_percent"); stolen > kMuch_percent)
    clauses.push_back(fmt::format("a hypervisor took {:.0f} % of the processor time", stolen));
  if (const double held = worst_counted(summary.run, "cpu.throttled_percent"); held > kMuch_percent)
    clauses.push_back(
        fmt::format("a control group's CPU limit held threads up for {:.0f} % of the time", held));
  return clauses;
}

void add_contention(RunSummary& summary) {
  using Wait = Measured<std::int64_t>;
  const std::string why_not = fact_of(summary.run, kFactCpuWaitUnavailable);
  if (summary.probed_steps == 0) {
    summary.cpu_wait_ns = Wait::missing("no measured step with the probes on");
  } else if (!fact_of(summary.run, kFactCpuWait).empty()) {
    summary.cpu_wait_ns = summary.partition[store::StepPart::kCpuWait];
  } else if (!why_not.empty()) {
    summary.cpu_wait_ns = Wait::missing(why_not);
  } else if (is_program(summary.run.run_case)) {
    summary.cpu_wait_ns = Wait::missing("the threads of a program are not followed");
  } else {
    summary.cpu_wait_ns = Wait::missing("not recorded");
  }
  const auto number = [&](std::string_view name) {
    return number_from<double>(fact_of(summary.run, std::string(name).c_str())).value_or(0);
  };
  if (number(kProbeSpansPerStep) > 0) {
    summary.probe_account_ns = number(kProbeSpansPerStep) * number(kProbePush_ns) + number(kProbeDrainPerStep_ns) +
                               number(kProbeReadingsPerStep_ns);
  }
  summary.compute_slowdown_percent = slowdown_from(fact_of(summary.run, kFactComputeSlowdown));
}

std::string fact_from(const Measured<Estimate>& percent) {
  if (!percent) return percent.reason();
  return fmt::format("{:.4g} {:.4g} {:.4g}", percent->value, percent->interval.low, percent->interval.high);
}

}  // namespace ddbench::analyzer
