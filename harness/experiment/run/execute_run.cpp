#include "harness/experiment/run/execute_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analyzer/finalize/finalize.h"
#include "analyzer/scaling/scaling_curve.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/files/temporary_directory.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "core/run_case/scheduler_job.h"
#include "core/run_case/step_facts.h"
#include "harness/collective/gloo_patch_switch.h"
#include "harness/experiment/ingest/kept_run.h"
#include "harness/experiment/ingest/launch_notes.h"
#include "harness/experiment/ingest/program_ingest.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/ingest/span_ingest.h"
#include "harness/experiment/run/baseline.h"
#include "harness/experiment/run/checkpoint_folder.h"
#include "harness/experiment/run/goodput.h"
#include "harness/experiment/run/gpus.h"
#include "harness/experiment/run/launch_relay.h"
#include "harness/experiment/run/machine_counts.h"
#include "harness/experiment/run/network.h"
#include "harness/launch/launch.h"
#include "harness/microbench/micro.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/strategy/strategy_traffic.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {
namespace {

ProvenanceSet provenance_of(const RunCase& run_case, const host::Machine& machine, bool may_share_gpus,
                            const std::string& network) {
  ProvenanceSet provenance{Provenance::kMeasured};
  if (run_case.nodes > 1 || network.find('@') != std::string::npos)
    provenance.add(Provenance::kEmulatedNetwork);
  const bool shares_cores = machine.cores && run_case.world_size() > *machine.cores;
  if (shares_cores || shares_gpus(run_case, machine, may_share_gpus))
    provenance.add(Provenance::kOversubscribed);
  return provenance;
}

/// NCCL's settings, which ranks inherit: "nccl.NCCL_ALGO".
void add_nccl_settings(Facts& facts) {
  constexpr std::string_view kPrefix = "NCCL_";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string setting(*entry);
    const std::size_t equals = setting.find('=');
    if (!setting.starts_with(kPrefix) || equals == std::string::npos) continue;
    const std::string name = setting.substr(kPrefix.size(), equals - kPrefix.size());
    set_fact(facts, fact_key_of<"nccl.NCCL_*">(name), setting.substr(equals + 1));
  }
}

store::RunRecord new_record(const RunCase& run_case, const ExecuteOptions& options,
                            const host::Machine& machine) {
  store::RunRecord run;
  run.id = store::new_run_id();
  run.run_case = run_case;
  run.sweep_id = options.sweep_id;
  run.baseline_id = options.baseline_id;
  run.is_baseline = options.is_baseline;
  run.repetition = options.repetition;
  run.environment.fingerprint = host::fingerprint(machine);
  run.environment.facts = host::facts(machine);
  add_origin_facts(run.environment.facts);
  add_nccl_settings(run.environment.facts);
  if (run_case.backend == "gloo" && !is_program(run_case)) {
    set_fact(run.environment.facts, fact_key<"gloo.trylock_patch">, collective::gloo_trylock_patch_is_on());
  }
  if (is_reference(run_case)) {
    const auto workload = workload::make_workload(run_case);
    Facts& facts = run.environment.facts;
    set_fact(facts, fact_key<"workload.flops_per_sample">, workload->flops_per_sample());
    set_fact(facts, fact_key<"workload.hardware_flops_per_sample">, workload->hardware_flops_per_sample());
    const ddp::StrategyTraffic traffic = ddp::strategy_traffic(run_case);
    set_fact(facts, fact_key<"strategy.sent_bytes_per_step">, traffic.sent_bytes);
    set_fact(facts, fact_key<"strategy.traffic">, traffic.formula);
  }
  if (is_program(run_case)) set_program_files(run.environment.facts, shell_script_of(program_command(run_case)));
  run.started_wall_ns = wall_ns();
  run.provenance = provenance_of(run_case, machine, options.launcher.share_gpus, "");
  store::set_owner_to_this_process(run);
  return run;
}

/// The hardware of the ranks' machines in the place of that of this one, where none of them may have been.
void take_hardware(store::RunRecord& run, const std::vector<host::Facts>& machines, host::Machine own) {
  if (machines.empty()) return;
  auto& facts = run.environment.facts;
  own.libraries.clear();  // the ranks do not tell theirs
  own.commands.clear();
  for (const auto& [key, value] : host::facts(own)) facts.erase(key);
  facts.insert(machines.front().begin(), machines.front().end());
  set_fact(facts, fact_key<"launched_from.fingerprint">,
           std::exchange(run.environment.fingerprint, host::fingerprint(machines)));
}

/// The record of the run after the launch.
store::RunRecord ended_run(store::RunRecord run, const launch::LaunchOutcome& outcome,
                           const host::Machine& machine, bool may_share_gpus) {
  run.state = outcome.state;
  run.reason = outcome.reason;
  run.environment.network = proved_network(outcome.network, outcome.transport);
  set_fact(run.environment.facts, fact_key<"transport">, outcome.transport);
  take_hardware(run, outcome.machines, machine);
  for (const auto& [key, value] : outcome.facts) run.environment.facts[key] = value;
  add_notes(outcome.notes, run.environment.facts);
  run.provenance =
      outcome.provenance.value_or(provenance_of(run.run_case, machine, may_share_gpus, outcome.network));
  run.finished_wall_ns = wall_ns();
  return run;
}

void take_recording(const ProgramRecording& recording, store::RunRecord& run, launch::LaunchOutcome& outcome) {
  if (recording.own_ranks.per_node > 0) take_own_ranks(recording.own_ranks.per_node, run.run_case, outcome.ranks);
  if (!recording.own_ranks.invalid.empty()) {
    run.valid = false;
    run.invalid_reason = recording.own_ranks.invalid;
  }
  for (store::RankRecord& rank : outcome.ranks) {
    rank.dropped_spans = recording.ranks.at(static_cast<std::size_t>(rank.rank)).dropped_spans;
  }
  if (!recording.transport.empty()) outcome.transport = recording.transport;
  for (const auto& [key, value] : recording.facts) outcome.facts[key] = value;
  ProgramFiles files = program_files(recording.facts);
  files.merge(program_files(run.environment.facts));
  set_program_files(outcome.facts, files);
  outcome.notes.insert(outcome.notes.end(), recording.notes.begin(), recording.notes.end());
}

/// Of a run that did what its case says; 0 where that is not known.
double samples_of(const store::RunRecord& run, const launch::LaunchOutcome& outcome) {
  const bool is_whole = outcome.state == store::RunState::kDone && run.run_case.target_loss == 0 &&
                        is_reference(run.run_case);
  return is_whole ? static_cast<double>(run.run_case.global_batch()) * steps_done(run.run_case, outcome.facts)
                  : 0;
}

void take_counts(launch::LaunchOutcome& outcome, double samples) {
  const std::size_t machines = std::max(outcome.machines.size(), outcome.counted.size());
  outcome.facts.merge(counted_facts(outcome.counted, machines, samples));
  for (std::string& note : counted_notes(outcome.counted, machines)) {
    outcome.notes.push_back(std::move(note));
  }
}

/// Marks the run failed when its results cannot be stored (best effort).
void store_failure(store::RunStore& store, store::RunRecord run, const std::string& reason) noexcept {
  try {
    run.state = store::RunState::kFailed;
    run.reason = reason;
    run.finished_wall_ns = wall_ns();
    store.update_run(run);
  } catch (const std::exception&) {
    // The store takes nothing any more: recover_runs() closes the run.
  }
}

/// The run's results could not be stored, or the run not started: says so in the store. The spools stay where
/// there are any, and the returned error says how to bring them into the store.
Error keep_what_is_not_stored(store::RunStore& store, TemporaryDirectory& directory, KeptRun kept,
                              const Error& error) {
  if (!has_spools(directory.path())) {
    store_failure(store, kept.run, error.message());
    return error;
  }
  const std::string path = directory.path().string();
  const std::string command =
      fmt::format("ddbench db recover {} --db {}", kept.run.id, store.file().string());
  store_failure(store, kept.run,
                fmt::format("{}. Not all that was measured is stored: `{}` completes the run",
                            error.message(), command));
  if (kept.run.state == store::RunState::kRunning) {
    kept.run.state = store::RunState::kFailed;
    kept.run.reason = error.message();
    kept.run.finished_wall_ns = wall_ns();
  }
  keep_run(directory.path(), kept);
  directory.keep();
  return Error(
      error.code(),
      fmt::format("{}\nNothing that run {} measured is lost: it is kept in {}. When the store can be written "
                  "again, bring it in with\n  {}",
                  error.message(), kept.run.id, path, command),
      error.native_code(), error.where());
}

/// Launches the run, keeps everything in the store as it comes in, and turns it into rows. `kept` becomes
/// what there is to say of the run, however far this comes.
class Execution {
 public:
  Execution(const ExecuteOptions& options, store::RunStore& store, RunObserver& observer,
            const host::Machine& machine, const std::filesystem::path& directory, KeptRun& kept)
      : options_(options),
        store_(store),
        observer_(observer),
        machine_(machine),
        directory_(directory),
        kept_(kept),
        run_case_(kept.run.run_case),
        ingest_(store, kept.run.id, directory, run_case_.world_size()),
        output_(run_case_, directory) {}

  void run(const CheckpointFolder& checkpoints) {
    store::RunRecord started = kept_.run;
    LaunchRelay relay(run_case_, directory_, ingest_, output_, observer_);
    launch::LaunchOutcome outcome = launch(checkpoints, relay);
    take_counts(outcome, samples_of(started, outcome));
    keep(ended(started, outcome), outcome);
    try {
      relay.finish();
    } catch (const Error& error) {
      // The run ended because the store failed, whatever else was going on.
      kept_.run.state = store::RunState::kFailed;
      kept_.run.reason = error.message();
      throw;
    }
    take_rest(started, outcome);
    store_.put_ranks(started.id, outcome.ranks);
    keep(ended(started, outcome), outcome);
    // Stored before its rows are computed, so that finalize_run sees what the run was; done only after them.
    store_.update_run(kept_.run);
    analyzer::finalize_run(store_, started.id);
    if (run_case_.checkpoint_every > 0) store_goodput(store_, started.id);
  }

 private:
  launch::LaunchOutcome launch(const CheckpointFolder& checkpoints, LaunchRelay& relay) {
    launch::LaunchOptions launch_options;
    launch_options.run_id = kept_.run.id;
    launch_options.run_directory = directory_;
    launch_options.executable = options_.executable;
    launch_options.watchdog = options_.watchdog;
    launch_options.preemption_grace = options_.preemption_grace;
    launch_options.checkpoints = checkpoints.plan();
    launch_options.start_deadline = options_.launcher.start_deadline;
    launch_options.tells_places = options_.tells_places;
    launch_options.shares_gpus = shares_gpus(run_case_, machine_, options_.launcher.share_gpus);
    return launch::launch(run_case_, launch_options, options_.launcher, relay);
  }

  /// `started` becomes what the run turned out to be, where its program started ranks of its own.
  void take_rest(store::RunRecord& started, launch::LaunchOutcome& outcome) {
    output_.show(observer_);
    output_.keep(output_directory(store_.file(), started.id));
    if (is_program(run_case_)) {
      return take_recording(ingest_program(store_, started, directory_), started, outcome);
    }
    ingest_.poll();
    for (std::string& note : ingest_.notes()) outcome.notes.push_back(std::move(note));
    for (store::RankRecord& rank : outcome.ranks) {
      rank.dropped_spans = std::max(rank.dropped_spans, ingest_.dropped_spans(rank.rank));
    }
  }

  store::RunRecord ended(const store::RunRecord& started, const launch::LaunchOutcome& outcome) const {
    return ended_run(started, outcome, machine_, options_.launcher.share_gpus);
  }
  void keep(store::RunRecord run, const launch::LaunchOutcome& outcome) {
    kept_.run = std::move(run);
    kept_.ranks = outcome.ranks;
  }

  const ExecuteOptions& options_;
  store::RunStore& store_;
  RunObserver& observer_;
  const host::Machine& machine_;
  std::filesystem::path directory_;
  KeptRun& kept_;
  RunCase run_case_;
  SpanIngest ingest_;
  ProgramOutput output_;
};

}  // namespace

store::RunRecord execute_run(const RunCase& run_case, const ExecuteOptions& options, store::RunStore& store,
                             RunObserver& observer) {
  const host::Machine machine = host::inspect_machine();
  KeptRun kept{new_record(run_case, options, machine), {}};
  TemporaryDirectory directory(temporary_root(), kept.run.id);
  name_store(directory.path(), store.file());
  const CheckpointFolder checkpoints(options, store.file(), kept.run);
  store.create_run(kept.run);
  store.beat(kept.run.id, wall_ns());
  observer.on_start(kept.run);
  try {
    Execution(options, store, observer, machine, directory.path(), kept).run(checkpoints);
  } catch (const Error& error) {
    throw keep_what_is_not_stored(store, directory, std::move(kept), error);
  } catch (const std::exception& error) {
    throw keep_what_is_not_stored(store, directory, std::move(kept),
                                  Error(ErrorCode::kRunFailed, error.what()));
  }
  return *store.run(kept.run.id);
}

}  // namespace ddbench::experiment
