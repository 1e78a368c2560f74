#include "analyzer/run/caveats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analyzer/attribution/nccl_join.h"
#include "analyzer/run/analysis_facts.h"
#include "analyzer/run/contention.h"
#include "core/number.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

constexpr int kFewSteps = 20;
constexpr double kNotedShare = 0.001;  // of the elapsed time

using Notes = std::vector<std::string>;

void note_validity(const RunSummary& summary, Notes& notes) {
  if (!summary.run.valid) {
    notes.push_back(fmt::format("INVALID, do not use these figures: {}", summary.run.invalid_reason));
  }
  if (summary.measured_steps > 0 && summary.measured_steps < kFewSteps) {
    notes.push_back(
        fmt::format("few steps: {} measured; medians and intervals of {} or more can be relied on",
                    summary.measured_steps, kFewSteps));
  }
}

/// What the elapsed time of the steps could not be taken from.
void note_elapsed_time(const RunSummary& summary, Notes& notes) {
  if (!summary.step_time_ns) return;
  if (!summary.clocks_known) {
    notes.push_back(
        "the clocks of the ranks were never compared: the step time is that of the rank whose steps took "
        "longest, by its own clock");
  }
  const double counted_ns = summary.step_time_ns->value * summary.measured_steps;
  if (!is_program(summary.run.run_case) && static_cast<double>(summary.left_out_ns) > kNotedShare * counted_ns) {
    notes.push_back(fmt::format("{:.3g} s between measured steps are left out: not all ranks recorded a step there",
                                static_cast<double>(summary.left_out_ns) / 1e9));
  }
}

void note_oversubscription(const RunSummary& summary, Notes& notes) {
  if (!summary.run.provenance.has(Provenance::kOversubscribed)) return;
  const int ranks = ranks_on_fullest_host(summary);
  const std::int64_t cores = numeric_fact(summary.run, "cpu.cores");
  if (cores <= 0 || ranks <= cores) {
    notes.push_back(
        "oversubscribed: ranks share cores or a GPU, so compute takes longer than on a machine of its own");
    return;
  }
  // The baseline's ranks may have had to share too.
  const int base_ranks = summary.efficiency ? summary.efficiency.value().baseline.run_case.world_size() : 1;
  const double base_share = std::min(1.0, static_cast<double>(cores) / base_ranks);
  const double ceiling = static_cast<double>(cores) / ranks / base_share;
  notes.push_back(
      fmt::format("oversubscribed: {} ranks share {} core{}: at best {:.1f} % efficiency can be seen here, "
                  "whatever the network",
                  ranks, cores, cores == 1 ? "" : "s", 100 * ceiling));
}

std::string fact(const store::RunRecord& run, const std::string& name) {
  const auto found = run.environment.facts.find(name);
  return found == run.environment.facts.end() ? std::string() : found->second;
}

double real_fact(const store::RunRecord& run, const std::string& name) {
  return number_from<double>(fact(run, name)).value_or(0);
}

/// What the strategy must send by theory, beside what the kernel counted where all of it crossed links.
void note_traffic(const RunSummary& summary, Notes& notes) {
  const RunCase& run_case = summary.run.run_case;
  const double theory = real_fact(summary.run, "strategy.sent_bytes_per_step");
  if (theory <= 0) return;
  std::string text = fmt::format("{}: a rank sends {:.4g} MB a step on average, {}", run_case.strategy,
                                 theory / 1e6, fact(summary.run, "strategy.traffic"));
  const double sent = real_fact(summary.run, "network.sent_bytes");
  const double ranks_and_steps = static_cast<double>(run_case.nodes) * run_case.total_steps();
  if (sent > 0 && run_case.gpus_per_node == 1 && summary.run.state == store::RunState::kDone &&
      run_case.target_loss == 0 && fact(summary.run, "resumed.from").empty()) {
    text += fmt::format("; on the wire it was {:.4g} MB with headers, start and end",
                        sent / ranks_and_steps / 1e6);
  }
  notes.push_back(text);
}

void note_goodput(const RunSummary& summary, Notes& notes) {
  const std::string from = fact(summary.run, "resumed.from");
  if (!from.empty()) {
    notes.push_back(fmt::format("continues run {} after {} steps; earlier steps are that run's", from,
                                fact(summary.run, "resumed.at_step")));
  }
  const std::string goodput = fact(summary.run, "goodput");
  if (goodput.empty()) return;
  const double useful = real_fact(summary.run, "goodput.useful_s");
  const double total = real_fact(summary.run, "goodput.total_s");
  std::string text = fmt::format(
      "goodput {:.1f} %: {:.3g} s of {:.3g} s were steps that count, with {} restart(s)",
      100 * real_fact(summary.run, "goodput"), useful, total, fact(summary.run, "goodput.restarts"));
  const double between = real_fact(summary.run, "goodput.between_s");
  if (between > 0) {
    text += fmt::format("; with the {:.3g} s between the runs it is {:.1f} %", between,
                        100 * useful / (total + between));
  }
  notes.push_back(text);
}

void note_network(const RunSummary& summary, Notes& notes) {
  const RunCase& run_case = summary.run.run_case;
  const std::string& network = summary.run.environment.network;
  if (summary.run.provenance.has(Provenance::kEmulatedNetwork)) {
    notes.push_back(
        fmt::format("emulated network{}{}: {} nodes are parts of one machine; no figure here is that of a "
                    "real fabric",
                    network.empty() ? "" : " ", network, run_case.nodes));
  }
  const bool shaped = network.find('@') != std::string::npos;
  if (!run_case.link.empty() && run_case.nodes > 1 && !shaped) {
    notes.push_back(fmt::format("links of {} were asked for, but the network was {}: nothing was shaped",
                                run_case.link, network.empty() ? "not proved" : network));
  }
}

/// What the launcher found worth telling, stored as the facts note.1, note.2, ..., where no note says it
/// already.
void note_facts(const RunSummary& summary, Notes& notes) {
  const auto& facts = summary.run.environment.facts;
  for (auto fact = facts.lower_bound("note."); fact != facts.end() && fact->first.rfind("note.", 0) == 0;
       ++fact) {
    const auto said = std::find_if(notes.begin(), notes.end(), [&](const std::string& note) {
      return note.find(fact->second) != std::string::npos;
    });
    if (said == notes.end()) notes.push_back(fact->second);
  }
}

void note_other_provenance(const RunSummary& summary, Notes& notes) {
  for (const Provenance flag :
       {Provenance::kReplayedCompute, Provenance::kImported, Provenance::kPredicted}) {
    if (summary.run.provenance.has(flag)) notes.push_back(fmt::format("provenance: {}", to_string(flag)));
  }
}

void note_losses_of_data(const RunSummary& summary, Notes& notes) {
  if (summary.dropped_spans > 0) {
    notes.push_back(
        fmt::format("{} spans were dropped (rings full): parts of the steps are missing and count as idle",
                    summary.dropped_spans));
  }
  if (const std::int64_t count = numeric_fact(summary.run, kFactDroppedCuptiRecords); count > 0) {
    notes.push_back(fmt::format(
        "CUPTI dropped {} record(s): what kernels are missing is not known, and counts as idle", count));
  }
  if (const std::string names = fact(summary.run, kFactUnknownNcclKernels); !names.empty()) {
    notes.push_back(
        fmt::format("kernels of NCCL that ddbench does not know count as communication: {}", names));
  }
  if (const std::int64_t count = numeric_fact(summary.run, kFactIncompleteCollectives); count > 0) {
    notes.push_back(
        fmt::format("{} collective(s) were not seen on all ranks: not joined, counted as transfer", count));
  }
  if (const std::int64_t count = numeric_fact(summary.run, kFactDamagedSpans); count > 0) {
    notes.push_back(fmt::format("{} span(s) had impossible times and were left out", count));
  }
}

void note_reduced_steps(const RunSummary& summary, Notes& notes) {
  const std::int64_t reduced = numeric_fact(summary.run, kFactReducedSteps);
  if (reduced == 0) return;
  notes.push_back(fmt::format(
      "the spans of {} of {} steps (over all ranks) were kept reduced (--spans sampled): operators "
      "and kernels are told of the other {}",
      reduced, reduced + summary.kernel_steps, summary.kernel_steps));
}

void note_skipped_updates(const RunSummary& summary, Notes& notes) {
  const std::int64_t skipped = numeric_fact(summary.run, kFactSkippedUpdates);
  const auto scale = summary.run.environment.facts.find(kFactLossScale);
  if (skipped <= 0 || scale == summary.run.environment.facts.end()) return;
  notes.push_back(
      fmt::format("{} step(s) updated nothing: their gradients times the loss scale were not finite; "
                  "the scale of the last step was {}",
                  skipped, scale->second));
}

/// Whoever compares with another program must know of it.
void note_cuda_graph(const RunSummary& summary, Notes& notes) {
  const std::string what = fact(summary.run, kFactCudaGraph);
  if (what.empty()) return;
  notes.push_back(what.starts_with("off")
                      ? fmt::format("CUDA graph {}", what)
                      : fmt::format("forward and backward ran as a CUDA graph, {} (--cuda-graph)", what));
}

void note_missing_kernels(const RunSummary& summary, Notes& notes) {
  const std::string why = fact(summary.run, kFactCuptiUnavailable);
  if (why.empty()) return;
  const bool is_engines = !is_program(summary.run.run_case);
  notes.push_back(fmt::format("no kernels of GPUs were recorded{}: {}",
                              is_engines ? ", and operators are timed by CUDA's events" : "", why));
}

void note_peer_wait(const RunSummary& summary, Notes& notes) {
  if (summary.run.run_case.world_size() == 1 || summary.collectives.empty()) return;
  if (!summary.peer_wait_ns) {
    notes.push_back(fmt::format("peer wait: {}; it is counted as transfer", summary.peer_wait_ns.reason()));
    return;
  }
  const auto unresolved = std::count_if(
      summary.collectives.begin(), summary.collectives.end(),
      [](const CollectiveSummary& collective) { return !collective.record.peer_wait_resolved; });
  if (unresolved > 0) {
    notes.push_back(fmt::format(
        "peer wait of {} of {} kinds of collectives is below clock resolution and counted as transfer",
        unresolved, summary.collectives.size()));
  }
  if (const std::int64_t count = numeric_fact(summary.run, kFactClockContradictions); count > 0) {
    notes.push_back(fmt::format("in {} second(s) collectives contradict the readings of the clocks: peer waits are "
                                "less certain there",
                                count));
  }
}

void note_cpu_wait(const RunSummary& summary, Notes& notes) {
  if (summary.cpu_wait_ns || summary.probed_steps == 0 || is_program(summary.run.run_case)) return;
  if (summary.run.provenance.has(Provenance::kImported)) return;
  notes.push_back(fmt::format("CPU wait: {}; time without a core counts in the other parts of the step",
                              summary.cpu_wait_ns.reason()));
}

void note_comparison(const RunSummary& summary, Notes& notes) {
  if (!summary.efficiency) return;
  const store::RunRecord& baseline = summary.efficiency.value().baseline;
  if (baseline.environment.fingerprint != summary.run.environment.fingerprint) {
    notes.push_back(fmt::format(
        "the baseline {} ran in another environment (hardware or software differ): the efficiency "
        "compares machines too",
        baseline.id));
  }
  if (baseline.state != store::RunState::kDone) {
    notes.push_back(fmt::format("the baseline {} is {}: it is measured on the steps it has", baseline.id,
                                to_string(baseline.state)));
  }
}

void note_overhead(const RunSummary& summary, Notes& notes) {
  if (!summary.probe_overhead_percent || summary.probe_overhead_percent.value().interval.low <= 1.0) return;
  notes.push_back(fmt::format("the probes cost {:.1f} % of a step: figures of probe-on steps include it",
                              summary.probe_overhead_percent.value().value));
}

}  // namespace

std::vector<std::string> notes_on(const RunSummary& summary) {
  Notes notes;
  note_validity(summary, notes);
  note_elapsed_time(summary, notes);
  note_oversubscription(summary, notes);
  note_goodput(summary, notes);
  note_traffic(summary, notes);
  note_network(summary, notes);
  note_facts(summary, notes);
  note_other_provenance(summary, notes);
  note_comparison(summary, notes);
  note_losses_of_data(summary, notes);
  note_reduced_steps(summary, notes);
  note_skipped_updates(summary, notes);
  note_cuda_graph(summary, notes);
  note_missing_kernels(summary, notes);
  note_cpu_wait(summary, notes);
  note_peer_wait(summary, notes);
  note_overhead(summary, notes);
  return notes;
}

}  // namespace ddbench::analyzer
