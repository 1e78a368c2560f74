#include "ddbench/experiment/execute_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "checkpoint_folder.h"
#include "ddbench/analyzer/finalize.h"
#include "ddbench/analyzer/scaling_curve.h"
#include "ddbench/ddp/strategy_traffic.h"
#include "ddbench/experiment/baseline.h"
#include "ddbench/experiment/program_ingest.h"
#include "ddbench/experiment/span_ingest.h"
#include "ddbench/host/machine.h"
#include "ddbench/host/signals_blocked.h"
#include "ddbench/launch/launch.h"
#include "ddbench/launch/run_directory.h"
#include "ddbench/micro/micro.h"
#include "ddbench/record/clock.h"
#include "ddbench/record/error.h"
#include "ddbench/record/program_case.h"
#include "ddbench/workload/workload.h"
#include "goodput.h"
#include "gpus.h"
#include "machine_counts.h"
#include "network.h"
#include "notes.h"
#include "program_output.h"

namespace ddbench::experiment {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kIngestEvery_ns = 2'000'000'000;

/// Hears the launcher: passes progress on, and moves spools into the store every few seconds, on a thread of
/// its own: however long a locked store, a slow disk or a crowded machine holds that up, Ctrl-C and a dead
/// rank are answered. An error of the store must not unwind through the launcher while ranks run: it stops
/// the ranks and is thrown when they are gone.
class LaunchRelay : public launch::LaunchObserver {
 public:
  LaunchRelay(const RunCase& run_case, SpanIngest& ingest, ProgramOutput& output, RunObserver& observer)
      : tracker_(run_case),
        ingest_(ingest),
        output_(output),
        observer_(observer),
        last_ingest_ns_(now_ns()) {}

  void on_network(const std::string& network, const std::string& note) override {
    observer_.on_network(network, note);
  }
  void on_progress(const launch::RankProgress& progress) override {
    if (output_.expected()) return;  // where a program stands is what it prints
    observer_.on_progress(tracker_.update(progress.rank, progress.step, progress.loss, now_ns()));
  }
  void on_tick() override {
    output_.show(observer_);
    if (ingesting_.valid()) {
      if (ingesting_.wait_for(0s) != std::future_status::ready) return;
      take_ingested();
    }
    if (failure_ || now_ns() - last_ingest_ns_ < kIngestEvery_ns) return;
    last_ingest_ns_ = now_ns();
    start_ingest();
  }
  bool interrupted() override { return failure_ || observer_.interrupted(); }
  bool preempted() override { return observer_.preempted(); }

  /// When the ranks are gone. From here on the store is the caller's alone again.
  void finish() {
    if (ingesting_.valid()) {
      if (ingesting_.wait_for(1s) != std::future_status::ready) {
        observer_.on_wait(
            "the ranks have ended; waiting for the store, which another program may have locked");
      }
      take_ingested();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// The first tick comes after the launcher has forked for the last time.
  void start_ingest() {
    try {
      const host::SignalsBlocked blocked;
      ingesting_ = std::async(std::launch::async, [this] { ingest_.poll(); });
    } catch (const std::system_error&) {
      // No thread is to be had: the ranks may have taken the last. It is done when this one is asked for it.
      ingesting_ = std::async(std::launch::deferred, [this] { ingest_.poll(); });
      take_ingested();
    }
  }
  void take_ingested() {
    try {
      ingesting_.get();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  ProgressTracker tracker_;
  SpanIngest& ingest_;
  ProgramOutput& output_;
  RunObserver& observer_;
  std::int64_t last_ingest_ns_;
  std::exception_ptr failure_;
  std::future<void> ingesting_;  // waited for before what it uses ends
};

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
void add_nccl_settings(std::map<std::string, std::string>& facts) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string setting(*entry);
    const std::size_t equals = setting.find('=');
    if (setting.rfind("NCCL_", 0) != 0 || equals == std::string::npos) continue;
    facts["nccl." + setting.substr(0, equals)] = setting.substr(equals + 1);
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
  add_nccl_settings(run.environment.facts);
  if (!micro::is_micro(run_case) && !is_program(run_case)) {
    const auto workload = workload::make_workload(run_case.workload, run_case.workload_options);
    run.environment.facts[analyzer::kFactFlopsPerSample] = fmt::format("{}", workload->flops_per_sample());
    run.environment.facts[analyzer::kFactHardwareFlopsPerSample] =
        fmt::format("{}", workload->hardware_flops_per_sample());
    const ddp::StrategyTraffic traffic = ddp::strategy_traffic(run_case);
    run.environment.facts["strategy.sent_bytes_per_step"] = fmt::format("{:.0f}", traffic.sent_bytes);
    run.environment.facts["strategy.traffic"] = traffic.formula;
  }
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
  facts[kFactLaunchedFrom] = std::exchange(run.environment.fingerprint, host::fingerprint(machines));
}

void take_over(store::RunRecord& run, const launch::LaunchOutcome& outcome, const host::Machine& machine,
               bool may_share_gpus) {
  run.state = outcome.state;
  run.reason = outcome.reason;
  run.environment.network = proved_network(outcome.network, outcome.transport);
  run.environment.facts["transport"] = outcome.transport;
  take_hardware(run, outcome.machines, machine);
  for (const auto& [key, value] : outcome.facts) run.environment.facts[key] = value;
  add_notes(outcome.notes, run.environment.facts);
  run.provenance =
      outcome.provenance.value_or(provenance_of(run.run_case, machine, may_share_gpus, outcome.network));
  run.finished_wall_ns = wall_ns();
}

void take_recording(const ProgramRecording& recording, launch::LaunchOutcome& outcome) {
  for (store::RankRecord& rank : outcome.ranks) {
    rank.dropped_spans = recording.ranks.at(static_cast<std::size_t>(rank.rank)).dropped_spans;
  }
  if (!recording.transport.empty()) outcome.transport = recording.transport;
  for (const auto& [key, value] : recording.facts) outcome.facts[key] = value;
  outcome.notes.insert(outcome.notes.end(), recording.notes.begin(), recording.notes.end());
}

/// Of a run that did what its case says; 0 where that is not known.
double samples_of(const store::RunRecord& run, const launch::LaunchOutcome& outcome) {
  const bool is_whole = outcome.state == store::RunState::kDone && run.run_case.target_loss == 0 &&
                        !is_program(run.run_case) && !micro::is_micro(run.run_case);
  return is_whole ? static_cast<double>(run.run_case.global_batch()) * run.run_case.total_steps() : 0;
}

void take_counts(launch::LaunchOutcome& outcome, double samples) {
  const std::size_t machines = std::max(outcome.machines.size(), outcome.counted.size());
  outcome.facts.merge(counted_facts(outcome.counted, machines, samples));
  for (std::string& note : counted_notes(outcome.counted, machines)) {
    outcome.notes.push_back(std::move(note));
  }
}

/// What can still be said in the store when the results could not be kept.
void store_failure(store::RunStore& store, store::RunRecord run, const Error& error) noexcept {
  try {
    run.state = store::RunState::kFailed;
    run.reason = error.message();
    run.finished_wall_ns = wall_ns();
    store.update_run(run);
  } catch (const Error&) {
    // The store takes nothing any more; its next reader finds the run's owner dead and shows it as
    // interrupted.
  }
}

}  // namespace

store::RunRecord execute_run(const RunCase& run_case, const ExecuteOptions& options, store::RunStore& store,
                             RunObserver& observer) {
  const host::Machine machine = host::inspect_machine();
  store::RunRecord run = new_record(run_case, options, machine);
  const launch::RunDirectory directory(launch::run_directory_root(), run.id);
  const CheckpointFolder checkpoints(options, store.file(), run);
  store.create_run(run);
  observer.on_start(run);
  try {
    SpanIngest ingest(store, run.id, directory.path(), run_case.world_size());
    ProgramOutput output(run_case, directory.path());
    LaunchRelay relay(run_case, ingest, output, observer);
    launch::LaunchOptions launch_options;
    launch_options.run_id = run.id;
    launch_options.run_directory = directory.path();
    launch_options.executable = options.executable;
    launch_options.watchdog = options.watchdog;
    launch_options.preemption_grace = options.preemption_grace;
    launch_options.checkpoints = checkpoints.plan();
    launch_options.start_deadline = options.launcher.start_deadline;
    launch_options.shares_gpus = shares_gpus(run_case, machine, options.launcher.share_gpus);
    launch::LaunchOutcome outcome = launch::launch(run_case, launch_options, options.launcher, relay);
    take_counts(outcome, samples_of(run, outcome));
    relay.finish();
    output.show(observer);
    output.keep(output_directory(store.file(), run.id));
    if (is_program(run_case)) {
      take_recording(ingest_program(store, run, directory.path()), outcome);
    } else {
      ingest.poll();
    }
    for (store::RankRecord& rank : outcome.ranks) {
      rank.dropped_spans = std::max(rank.dropped_spans, ingest.dropped_spans(rank.rank));
    }
    store.put_ranks(run.id, outcome.ranks);
    take_over(run, outcome, machine, options.launcher.share_gpus);
    // Stored before its rows are computed, so that finalize_run sees what the run was; done only after them.
    store.update_run(run);
    analyzer::finalize_run(store, run.id);
    if (run_case.checkpoint_every > 0) store_goodput(store, run.id);
  } catch (const Error& error) {
    store_failure(store, run, error);
    throw;
  } catch (const std::exception& error) {
    store_failure(store, run, Error(ErrorCode::kRunFailed, error.what()));
    throw;
  }
  return *store.run(run.id);
}

}  // namespace ddbench::experiment
