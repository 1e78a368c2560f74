#include "harness/experiment/ingest/program_ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/attribution/nccl_join.h"
#include "analyzer/attribution/nccl_waits.h"
#include "analyzer/finalize/program_cpu_wait.h"
#include "analyzer/program/program_steps.h"
#include "analyzer/program/recording_cost.h"
#include "analyzer/run/applied_rate.h"
#include "core/facts/facts.h"
#include "core/program/mpi_report.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "core/text/quantity.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/ingest/program_spools.h"
#include "harness/experiment/ingest/rank_checks.h"
#include "harness/experiment/ingest/uncovered_mpi.h"

namespace ddbench::experiment {
namespace {

ProcessRecording take_rank(std::vector<ProcessRecording>& processes, int rank,
                           std::vector<std::string>& notes) {
  ProcessRecording best;
  int communicating = 0;
  for (ProcessRecording& process : processes) {
    if (process.rank != rank) continue;
    communicating += process.collectives() > 0;
    const auto weight = [](const ProcessRecording& of) {
      return std::pair(of.collectives(), of.spans.spans.size());
    };
    if (best.rank < 0 || weight(process) > weight(best)) best = std::move(process);
  }
  if (communicating > 1) {
    notes.push_back(fmt::format("{} processes of rank {} issued collectives; the one with the most is used", communicating, rank));
  }
  return best;
}

/// What the probes of GPU and NCCL saw on all ranks, and what they could not use.
class DeviceRecording {
 public:
  /// Joins a rank's kernels with the events of NCCL's profiler.
  void take(ProcessRecording& process) {
    const analyzer::NcclJoin join = analyzer::join_nccl_events(process.spans.spans, process.spans.names);
    analyzer::keep_nccl_waits(join.all_there_ns, process.spans.spans, process.spans.names);
    join_.add(join);
    for (const auto& [name, value] : process.counters) {
      if (!name.starts_with(kUncoveredMpiCalls)) counters_[name] += value;
    }
    has_kernels_ |= std::any_of(process.spans.spans.begin(), process.spans.spans.end(),
                                [](const Span& span) { return span.lane == Lane::kDeviceCompute; });
  }
  bool has_kernels() const noexcept { return has_kernels_; }

  void describe(ProgramRecording& recording) const {
    recording.facts.merge(analyzer::nccl_facts(join_));
    for (const auto& [name, value] : counters_) {
      if (value != 0) recording.facts[name] = fmt::format("{:.0f}", value);
    }
    const auto untimed = counters_.find("nccl.untimed");
    if (!has_kernels_ && untimed != counters_.end() && untimed->second > 0) {
      recording.notes.push_back(fmt::format(
          "{:.0f} collectives have no timing and are excluded: without CUPTI the times are NCCL's, which are "
          "unreliable after CUDA graphs and pauses, and not always asked for (fact nccl.no_kernel_events)",
          untimed->second));
    }
    if (join_.numbered > 0) {
      recording.notes.push_back(
          "NCCL's profiler reported nothing (it needs NCCL 2.26.2 or later): its kernels are joined across ranks "
          "by their order, and their bytes are not known");
    }
  }

 private:
  analyzer::NcclJoin join_;
  std::map<std::string, double> counters_;
  bool has_kernels_ = false;
};

/// Most of a program's evaluations and checkpoints lie between steps; a significant share is reported.
std::string time_outside(const analyzer::ProgramSteps& steps) {
  return fmt::format("{:.2f} s outside training steps (evaluation, checkpoints) are excluded",
                     static_cast<double>(steps.outside_ns) / 1e9);
}

/// What counted as compute.
enum class ComputeSource : std::uint8_t { kKernels, kOperators, kLibraries, kNone };

ComputeSource compute_source(const DeviceRecording& device, const std::vector<analyzer::ProgramRank>& ranks) {
  if (device.has_kernels()) return ComputeSource::kKernels;
  const auto has_operators = [](const analyzer::ProgramRank& rank) {
    return std::any_of(rank.names.begin(), rank.names.end(),
                       [](const std::string& name) { return name.starts_with("aten::"); });
  };
  const auto has_compute = [](const analyzer::ProgramRank& rank) {
    return std::any_of(rank.spans.begin(), rank.spans.end(),
                       [](const Span& span) { return span.kind == SpanKind::kCompute; });
  };
  if (std::any_of(ranks.begin(), ranks.end(), has_operators)) return ComputeSource::kOperators;
  return std::any_of(ranks.begin(), ranks.end(), has_compute) ? ComputeSource::kLibraries
                                                              : ComputeSource::kNone;
}

std::string meaning_of_compute(ComputeSource source, bool has_phases) {
  if (source == ComputeSource::kNone) {
    return "nothing that the program computed was recorded: communication that it hid behind that counts as "
           "exposed, and the rest of a step as host time";
  }
  const std::string what = source == ComputeSource::kKernels     ? "compute = GPU kernels"
                           : source == ComputeSource::kOperators ? "compute = PyTorch operators, host = the rest outside of collectives"
                                                                 : "compute = oneDNN and BLAS, host = the rest outside of collectives";
  if (has_phases && source != ComputeSource::kKernels) return what + "; marks in the program separate forward, backward and optimizer";
  return what + "; no split into forward and backward";
}

void describe_phases(const analyzer::ProgramPhases& phases, ProgramRecording& recording) {
  if (phases.data_ns > 0) set_fact(recording.facts, fact_key<"program.data_ns">, phases.data_ns);
  set_fact(recording.facts, fact_key<"program.forward_ns">, phases.forward_ns);
  set_fact(recording.facts, fact_key<"program.backward_ns">, phases.backward_ns);
  set_fact(recording.facts, fact_key<"program.optimizer_ns">, phases.optimizer_ns);
  set_fact(recording.facts, fact_key<"program.host_forward_ns">, phases.host_gap_ns[0]);
  set_fact(recording.facts, fact_key<"program.host_backward_ns">, phases.host_gap_ns[1]);
  set_fact(recording.facts, fact_key<"program.host_optimizer_ns">, phases.host_gap_ns[2]);
  set_fact(recording.facts, fact_key<"program.host_elsewhere_ns">, phases.host_gap_ns[3]);
  if (phases.samples > 0) set_fact(recording.facts, fact_key<"program.samples_per_step">, phases.samples);
  const auto time = [](std::int64_t value_ns) { return quantity(static_cast<double>(value_ns), "ns"); };
  recording.notes.push_back(
      fmt::format("of a step, its own calls take, with the host time and communication in them: {}forward {}, backward {}, "
                  "optimizer {}",
                  phases.data_ns > 0 ? "DataLoader " + time(phases.data_ns) + ", " : "", time(phases.forward_ns),
                  time(phases.backward_ns), time(phases.optimizer_ns)));
}

void describe_window(const RunCase& run_case, const analyzer::ProgramSteps& steps, ProgramRecording& recording) {
  if (!run_case.has_window()) return;
  if (steps.found == 0) {
    recording.notes.push_back("its steps were not found, so that the measuring window was not applied");
  } else if (steps.steps == 0) {
    recording.notes.push_back(fmt::format("the program made {} steps: none is in the measuring window, which begins after {}",
                                          steps.found, run_case.skip));
  } else if (run_case.measure > 0 && run_case.duration_s == 0 &&
             steps.steps < static_cast<std::uint32_t>(run_case.measure)) {
    recording.notes.push_back(fmt::format("the program made {} steps: {} are in the measuring window of {}", steps.found,
                                          steps.steps, run_case.measure));
  }
}

void describe(const RunCase& run_case, const analyzer::ProgramSteps& steps, ComputeSource compute,
              ProgramRecording& recording) {
  set_fact(recording.facts, fact_key<"program.steps_from">, analyzer::name_of(steps.source));
  set_fact(recording.facts, fact_key<"program.steps">, steps.steps);
  recording.notes.push_back(meaning_of_compute(compute, steps.phases.has_value()));
  if (steps.phases) describe_phases(*steps.phases, recording);
  describe_window(run_case, steps, recording);
  set_fact(recording.facts, fact_key<"program.outside_steps_ns">, steps.outside_ns);
  if (steps.outside_ns > 0) recording.notes.push_back(time_outside(steps));
  if (steps.source == analyzer::StepSource::kPattern) {
    set_fact(recording.facts, fact_key<"program.confidence">, steps.confidence);
    set_fact(recording.facts, fact_key<"program.pattern">, steps.pattern);
    recording.notes.push_back(
        fmt::format("its steps are inferred from the repeating call pattern (confidence {:.0f}%): {}",
                    100 * steps.confidence, steps.pattern));
  } else if (steps.source == analyzer::StepSource::kWindow) {
    recording.notes.push_back(
        "no training steps detected: the whole time counts as one step, so throughput is meaningless. Mark steps: call "
        "ddbench_step() after each optimizer step (#include <ddbench/ddbench.h>, or in Python import ddbench and "
        "ddbench.step())");
  }
}

/// Means over the ranks that reported it.
void describe_cost(const std::vector<std::vector<analyzer::CostReading>>& readings, const std::vector<analyzer::ProgramRank>& ranks,
                   int warmup, ProgramRecording& recording) {
  analyzer::RecordingCost sum;
  double reporting = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto cost = analyzer::recording_cost(readings[rank], ranks[rank].spans, static_cast<std::uint32_t>(std::max(warmup, 0)));
    if (!cost) continue;
    sum.hooks_ns += cost->hooks_ns;
    sum.drain_ns += cost->drain_ns;
    ++reporting;
  }
  if (reporting == 0) return;
  set_fact(recording.facts, fact_key<"probe_cost.hooks_ns">, sum.hooks_ns / reporting);
  set_fact(recording.facts, fact_key<"probe_cost.drain_ns">, sum.drain_ns / reporting);
}

/// What the ranks ran. Of a file that is not the same on all of them, that of the first one counts.
void describe_files(const std::vector<analyzer::ProgramRank>& ranks, ProgramRecording& recording) {
  ProgramFiles files;
  std::set<std::string> unequal;
  for (const analyzer::ProgramRank& rank : ranks) {
    for (const std::string& name : rank.names) {
      if (const auto folder = parse_program_folder(name)) {
        if (!has_fact(recording.facts, fact_key<"program.folder">))
          set_fact(recording.facts, fact_key<"program.folder">, *folder);
      } else if (const auto file = parse_program_file(name)) {
        const auto [known, is_new] = files.emplace(file->name, file->hash);
        if (!is_new && known->second != file->hash) unequal.insert(file->name);
      }
    }
  }
  set_program_files(recording.facts, files);
  if (unequal.empty()) return;
  recording.notes.push_back(fmt::format("the ranks did not run the same program: {} differ{} between them",
                                        files_in_words({unequal.begin(), unequal.end()}), unequal.size() == 1 ? "s" : ""));
}

/// For each step, and the last one as a fact.
void store_learning_rates(store::RunStore& store, const store::RunId& run, const std::vector<std::optional<double>>& rates,
                          ProgramRecording& recording) {
  std::vector<std::pair<std::uint32_t, double>> values;
  for (std::size_t step = 0; step < rates.size(); ++step) {
    if (rates[step]) values.emplace_back(static_cast<std::uint32_t>(step), *rates[step]);
  }
  if (values.empty()) return;
  store.append_step_values(run, 0, analyzer::kLearningRate, values);
  set_fact(recording.facts, fact_key<"program.learning_rate">, values.back().second);
}

void store_cpu_wait(store::RunStore& store, const store::RunId& run, int rank,
                    const std::vector<analyzer::CpuWaitReading>& readings, const std::vector<Span>& spans) {
  std::vector<std::pair<std::uint32_t, double>> main_ns;
  std::vector<std::pair<std::uint32_t, double>> communication_ns;
  for (const auto& [step, wait] : analyzer::cpu_wait_of_steps(readings, spans)) {
    main_ns.emplace_back(step, static_cast<double>(wait.main_ns));
    communication_ns.emplace_back(step, static_cast<double>(wait.communication_ns));
  }
  store.append_step_values(run, rank, kCpuWaitMain, main_ns);
  store.append_step_values(run, rank, kCpuWaitCommunication, communication_ns);
}

}  // namespace

ProgramRecording ingest_recordings(store::RunStore& store, const store::RunRecord& run,
                                   std::vector<ProcessRecording> processes) {
  ProgramRecording recording;
  for (const ProcessRecording& process : processes) {
    for (const std::string& note : {process.damage, process.invalid}) {
      if (!note.empty()) recording.notes.push_back(note);
    }
  }
  std::vector<analyzer::ProgramRank> ranks;
  std::vector<std::optional<std::vector<analyzer::CpuWaitReading>>> cpu_waits;
  std::vector<std::vector<analyzer::CostReading>> costs;
  DeviceRecording device;
  UncoveredMpi mpi;
  recording.own_ranks = find_own_ranks(run.run_case, processes);
  const int own = run.run_case.nodes * recording.own_ranks.per_node;
  for (int rank = 0; rank < (own > 0 ? own : run.run_case.world_size()); ++rank) {
    ProcessRecording process = take_rank(processes, rank, recording.notes);
    recording.ranks.push_back({process.dropped, process.ended});
    device.take(process);
    mpi.take(process);
    cpu_waits.push_back(analyzer::take_cpu_wait(process.spans));
    costs.push_back(analyzer::take_recording_cost(process.spans));
    ranks.push_back(std::move(process.spans));
  }
  if (own > 0) {
    recording.notes.push_back(
        fmt::format("the program starts its ranks itself: {} were seen and recorded as with --per-node --gpus {}", own,
                    recording.own_ranks.per_node));
  }
  const ComputeSource compute = compute_source(device, ranks);
  const analyzer::KeptSteps kept{static_cast<std::uint32_t>(run.run_case.skip),
                                 static_cast<std::uint32_t>(run.run_case.measure),
                                 std::llround(run.run_case.duration_s * 1e9)};
  const analyzer::ProgramSteps steps = analyzer::assign_program_steps(ranks, run.run_case.warmup, analyzer::HostTime::kRest, kept);
  describe(run.run_case, steps, compute, recording);
  store_learning_rates(store, run.id, steps.learning_rates, recording);
  describe_cost(costs, ranks, run.run_case.warmup, recording);
  describe_files(ranks, recording);
  describe_rank_inputs(ranks, recording);
  device.describe(recording);
  mpi.describe(recording.notes);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].spans.empty()) continue;
    store.append_spans(run.id, static_cast<int>(rank), ranks[rank].spans, ranks[rank].names);
    if (cpu_waits[rank])
      store_cpu_wait(store, run.id, static_cast<int>(rank), *cpu_waits[rank], ranks[rank].spans);
  }
  return recording;
}

ProgramRecording ingest_program(store::RunStore& store, const store::RunRecord& run,
                                const std::filesystem::path& run_directory) {
  ProgramRecording recording =
      ingest_recordings(store, run,
                        read_spools(run_directory, is_program_per_node(run.run_case) ? FileNames::kOfNodes
                                                                                     : FileNames::kOfRanks));
  recording.transport = logged_transports(run_directory);
  for (std::string& note : loader_errors(run_directory, run.run_case.world_size())) recording.notes.push_back(std::move(note));
  return recording;
}

}  // namespace ddbench::experiment
