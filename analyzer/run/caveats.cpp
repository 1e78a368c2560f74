#include "analyzer/run/caveats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "analyzer/run/case_figures.h"
#include "analyzer/run/contention.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/run_case/step_facts.h"

namespace ddbench::analyzer {
namespace {

constexpr int kFewSteps = 20;
constexpr double kFewIndependentSteps = 3;  // as of runs (kFewestRuns): two that happen to agree are no evidence
constexpr double kNotedShare = 0.001;  // of the elapsed time
constexpr double kLeastShownCost = 0.05;  // percent; it would round to 0

using Notes = std::vector<std::string>;

const Facts& facts_of(const RunSummary& summary) {
  return summary.run.environment.facts;
}

void note_validity(const RunSummary& summary, Notes& notes) {
  if (!summary.run.valid) {
    notes.push_back(fmt::format("INVALID, do not use these figures: {}", summary.run.invalid_reason));
  }
  const auto& independent = summary.independent_steps;
  if (summary.measured_steps > 0 && summary.measured_steps < kFewSteps && !gives_one_mean(summary)) {
    notes.push_back(
        fmt::format("few steps: {} measured; medians and intervals of {} or more can be relied on",
                    summary.measured_steps, kFewSteps));
  } else if (independent && *independent < kFewIndependentSteps) {
    notes.push_back(fmt::format(
        "the {} measured steps depend on each other and are worth {:.0f} independent: their interval is a rough one; measure more steps, or a "
        "longer warm-up",
        summary.measured_steps, *independent));
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
  if (!is_program(summary.run.run_case) &&
      static_cast<double>(summary.left_out_ns) > kNotedShare * counted_ns) {
    notes.push_back(
        fmt::format("{:.3g} s between measured steps are left out: not all ranks recorded a step there",
                    static_cast<double>(summary.left_out_ns) / 1e9));
  }
}

void note_oversubscription(const RunSummary& summary, Notes& notes) {
  if (!summary.run.provenance.has(Provenance::kOversubscribed)) return;
  if (const auto others = get_fact(facts_of(summary), fact_key<"cores.shared_with">)) {
    notes.push_back(fmt::format("oversubscribed: ranks shared their cores with {}: steps took longer than on a machine of their own", *others));
  }
  const int ranks = ranks_on_fullest_host(summary);
  const std::int64_t cores = get_fact(facts_of(summary), fact_key<"cpu.cores">).value_or(0);
  if (cores <= 0 || ranks <= cores) {
    if (has_fact(facts_of(summary), fact_key<"cores.shared_with">)) return;
    notes.push_back(
        "oversubscribed: ranks share cores or a GPU, so compute takes longer than on a machine of its own");
    return;
  }
  // The baseline's ranks may have had to share too.
  const int base_ranks = summary.efficiency ? summary.efficiency.value().baseline.run_case.world_size() : 1;
  const double base_share = std::min(1.0, static_cast<double>(cores) / base_ranks);
  const double ceiling = static_cast<double>(cores) / ranks / base_share;
  notes.push_back(
      fmt::format("oversubscribed: {} ranks share {} core{}: at best {:.1f}% efficiency can be seen here, "
                  "whatever the network",
                  ranks, cores, cores == 1 ? "" : "s", 100 * ceiling));
}

void note_goodput(const RunSummary& summary, Notes& notes) {
  const Facts& facts = facts_of(summary);
  if (const auto from = get_fact(facts, fact_key<"resumed.from">)) {
    notes.push_back(fmt::format("continues run {} after {} steps; earlier steps are that run's", *from,
                                get_fact(facts, fact_key<"resumed.at_step">).value_or(0)));
  }
  const auto goodput = get_fact(facts, fact_key<"goodput">);
  if (!goodput) return;
  const double useful = get_fact(facts, fact_key<"goodput.useful_s">).value_or(0);
  const double total = get_fact(facts, fact_key<"goodput.total_s">).value_or(0);
  std::string text =
      fmt::format("goodput {:.1f}%: {:.3g} s of {:.3g} s were steps that count, with {} restart(s)",
                  100 * *goodput, useful, total, get_fact(facts, fact_key<"goodput.restarts">).value_or(0));
  const double between = get_fact(facts, fact_key<"goodput.between_s">).value_or(0);
  if (between > 0) {
    text += fmt::format("; with the {:.3g} s between the runs it is {:.1f}%", between,
                        100 * useful / (total + between));
  }
  notes.push_back(text);
}

void note_network(const RunSummary& summary, Notes& notes) {
  const RunCase& run_case = summary.run.run_case;
  const std::string& network = summary.run.environment.network;
  if (summary.run.provenance.has(Provenance::kEmulatedNetwork)) {
    notes.push_back(
        fmt::format("emulated network{}{}: {} nodes are emulated on one machine; results do not represent "
                    "a real network",
                    network.empty() ? "" : " ", network, run_case.nodes));
  }
  const bool shaped = network.find('@') != std::string::npos;
  if (!run_case.link.empty() && run_case.nodes > 1 && !shaped) {
    notes.push_back(fmt::format("links of {} were asked for, but the network was {}: nothing was shaped",
                                run_case.link, network.empty() ? "not proved" : network));
  }
}

/// The launcher's notes, stored as the facts note.1, note.2, ..., unless another note already states them.
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
  if (const auto count = get_fact(facts_of(summary), fact_key<"cupti.dropped_records">).value_or(0);
      count > 0) {
    notes.push_back(
        fmt::format("CUPTI dropped {} record(s): the missing kernels appear as idle time", count));
  }
  if (const auto names = get_fact(facts_of(summary), fact_key<"nccl.unknown_kernels">)) {
    notes.push_back(fmt::format("kernels of NCCL that ddbench does not know count as communication: {}",
                                fmt::join(*names, ", ")));
  }
  if (const auto count = get_fact(facts_of(summary), fact_key<"analysis.incomplete_collectives">).value_or(0);
      count > 0) {
    notes.push_back(
        fmt::format("{} collective(s) were not seen on all ranks: not joined, counted as transfer", count));
  }
  if (const auto count = get_fact(facts_of(summary), fact_key<"analysis.damaged_spans">).value_or(0);
      count > 0) {
    notes.push_back(fmt::format("{} span(s) had impossible times and were left out", count));
  }
}

void note_reduced_steps(const RunSummary& summary, Notes& notes) {
  const std::int64_t reduced = get_fact(facts_of(summary), fact_key<"analysis.reduced_steps">).value_or(0);
  if (reduced == 0) return;
  notes.push_back(fmt::format(
      "the spans of {} of {} steps (over all ranks) were kept reduced (--spans sampled): operator "
      "and kernel tables cover only the {} fully recorded steps",
      reduced, reduced + summary.kernel_steps, summary.kernel_steps));
}

void note_skipped_updates(const RunSummary& summary, Notes& notes) {
  const auto skipped = get_fact(facts_of(summary), fact_key<"training.skipped_updates">).value_or(0);
  const auto scale = get_fact(facts_of(summary), fact_key<"training.loss_scale">);
  if (skipped <= 0 || !scale) return;
  notes.push_back(
      fmt::format("{} step(s) updated nothing: their gradients times the loss scale were not finite; "
                  "the scale of the last step was {:g}",
                  skipped, *scale));
}

/// Needed for a comparison with another program.
void note_cuda_graph(const RunSummary& summary, Notes& notes) {
  const auto what = get_fact(facts_of(summary), fact_key<"training.cuda_graph">);
  if (!what) return;
  notes.push_back(what->starts_with("off")
                      ? fmt::format("CUDA graph {}", *what)
                      : fmt::format("forward and backward ran as a CUDA graph, {} (--cuda-graph)", *what));
}

void note_missing_kernels(const RunSummary& summary, Notes& notes) {
  const auto why = get_fact(facts_of(summary), fact_key<"cupti.unavailable">);
  if (!why) return;
  const bool is_engines = !is_program(summary.run.run_case);
  notes.push_back(fmt::format("no kernels of GPUs were recorded{}: {}",
                              is_engines ? ", and operators are timed by CUDA's events" : "", *why));
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
  if (const auto count = get_fact(facts_of(summary), fact_key<"analysis.clock_contradictions">).value_or(0);
      count > 0) {
    notes.push_back(
        fmt::format("in {} second(s) collectives contradict the readings of the clocks: peer waits are "
                    "less certain there",
                    count));
  }
}

/// Which bandwidths are not shown although there were bytes, by reason.
void note_bandwidths(const RunSummary& summary, Notes& notes) {
  std::map<std::string, std::size_t> kinds;
  for (const CollectiveSummary& collective : summary.collectives) {
    if (collective.record.bytes > 0 && collective.record.communicator.ranks != 1 && collective.record.transfer_ns > 0 &&
        !collective.algbw_gb_per_s)
      ++kinds[collective.algbw_gb_per_s.reason()];
  }
  constexpr std::size_t kMost = 3;
  if (kinds.size() > kMost) kinds.erase(std::next(kinds.begin(), kMost), kinds.end());
  for (const auto& [reason, count] : kinds) {
    notes.push_back(fmt::format("bandwidth of {} of {} kinds of collectives is not known: {}", count,
                                summary.collectives.size(), reason));
  }
}

void note_cpu_wait(const RunSummary& summary, Notes& notes) {
  if (summary.cpu_wait_ns || summary.probed_steps == 0) return;
  if (summary.run.provenance.has(Provenance::kImported)) return;
  notes.push_back(fmt::format("CPU wait: {}; time without a core counts in the other parts of the step",
                              summary.cpu_wait_ns.reason()));
}

void note_comparison(const RunSummary& summary, Notes& notes) {
  if (!summary.efficiency) return;
  if (std::string doubt = doubt_about_efficiency(summary.efficiency->value); !doubt.empty())
    notes.push_back(std::move(doubt));
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
  notes.push_back(fmt::format("the probes cost {} of a step: figures of probe-on steps include it",
                              probe_cost_in_words(*summary.probe_overhead_percent)));
}

}  // namespace

std::vector<std::string> notes_on(const RunSummary& summary) {
  Notes notes;
  note_validity(summary, notes);
  note_elapsed_time(summary, notes);
  note_oversubscription(summary, notes);
  note_goodput(summary, notes);
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
  note_bandwidths(summary, notes);
  note_overhead(summary, notes);
  return notes;
}

std::string probe_cost_in_words(const Estimate& percent) {
  const std::string most = fmt::format("at most {:.1f}%", std::max(0.0, percent.interval.high));
  return percent.value < kLeastShownCost ? most : fmt::format("{:.1f}%, {}", percent.value, most);
}

std::optional<GradientTraffic> gradient_traffic(const RunSummary& summary) {
  const RunCase& run_case = summary.run.run_case;
  const Facts& facts = facts_of(summary);
  GradientTraffic traffic;
  traffic.theory_bytes = get_fact(facts, fact_key<"strategy.sent_bytes_per_step">).value_or(0);
  if (traffic.theory_bytes <= 0) return std::nullopt;
  traffic.formula = get_fact(facts, fact_key<"strategy.traffic">).value_or("");
  const auto sent = static_cast<double>(get_fact(facts, fact_key<"network.sent_bytes">).value_or(0));
  const double ranks_and_steps = static_cast<double>(run_case.nodes) * steps_done(run_case, facts);
  if (sent > 0 && ranks_and_steps > 0 && run_case.gpus_per_node == 1 && summary.run.state == store::RunState::kDone &&
      run_case.target_loss == 0 && !has_fact(facts, fact_key<"resumed.from">))
    traffic.wire_bytes = sent / ranks_and_steps;
  return traffic;
}

}  // namespace ddbench::analyzer
