#pragma once

#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"

namespace ddbench::analyzer {

/// What overloaded the run's machines, as clauses: "16 ranks share 2 cores", "threads waited for a core in
/// 12.1% of a step", "a hypervisor took 9% of the processor time", "a control group throttled ...". Empty:
/// nothing known. Each of them makes compute and communication slower than on dedicated machines, so that no
/// other cause can be named.
std::vector<std::string> overload_of(const RunSummary& summary);

/// The most ranks that share a host.
int ranks_on_fullest_host(const RunSummary& summary);

/// Fills cpu_wait_ns, compute_slowdown_percent and probe_account_ns from the run's facts; partition and run
/// must be there.
void add_contention(RunSummary& summary);

/// For the fact analysis.compute_slowdown_percent.
Measured<FactEstimate> as_fact(const Measured<Estimate>& percent);

}  // namespace ddbench::analyzer
