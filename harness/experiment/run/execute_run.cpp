#include "harness/experiment/run/execute_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/finalize/finalize.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "core/library_error/as_error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "core/run_case/step_facts.h"
#include "harness/experiment/ingest/life_signs.h"
#include "harness/experiment/ingest/own_ranks.h"
#include "harness/experiment/ingest/program_ingest.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/ingest/span_ingest.h"
#include "harness/experiment/run/checkpoint_folder.h"
#include "harness/experiment/run/goodput.h"
#include "harness/experiment/run/gpus.h"
#include "harness/experiment/run/launch_relay.h"
#include "harness/experiment/run/counter_facts.h"
#include "harness/experiment/run/run_record.h"
#include "harness/experiment/run/unstored_run.h"
#include "harness/launch/launch.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {
namespace {

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

/// Samples that a run trained itself, if it did what its case says; 0 where that is not known.
double samples_of(const store::RunRecord& run, const launch::LaunchOutcome& outcome) {
  const bool is_whole = outcome.state == store::RunState::kDone && run.run_case.target_loss == 0 &&
                        is_reference(run.run_case);
  if (!is_whole) return 0;
  Facts facts = outcome.facts;
  facts.insert(run.environment.facts.begin(), run.environment.facts.end());  // has where it began
  return static_cast<double>(run.run_case.global_batch()) * steps_done(run.run_case, facts);
}

void take_counts(launch::LaunchOutcome& outcome, double samples) {
  const std::size_t machines = std::max(outcome.machines.size(), outcome.counted.size());
  outcome.facts.merge(counted_facts(outcome.counted, machines, samples));
  for (std::string& note : counted_notes(outcome.counted, machines)) {
    outcome.notes.push_back(std::move(note));
  }
}

/// One run after its record is in the store: launch, ingest, finalize. `kept` is the run's record and ranks as known so far,
/// however far this comes.
class Execution {
 public:
  Execution(const ExecuteOptions& options, store::RunStore& store, RunObserver& observer, const host::Machine& machine,
            const std::filesystem::path& directory, KeptRun& kept)
      : options_(options),
        store_(store),
        observer_(observer),
        machine_(machine),
        directory_(directory),
        kept_(kept),
        started_(kept.run),
        ingest_(store, started_.id, directory, run_case().world_size()),
        output_(run_case(), directory),
        relay_(run_case(), first_measured_step(run_case(), started_.environment.facts), directory, ingest_, output_, observer) {}

  /// Runs the ranks to their end. Spans are stored as they come in.
  void launch(const CheckpointFolder& checkpoints) {
    launch::LaunchOptions launch_options;
    launch_options.run_id = started_.id;
    launch_options.run_directory = directory_;
    launch_options.executable = options_.executable;
    launch_options.watchdog = options_.watchdog;
    launch_options.preemption_grace = options_.preemption_grace;
    launch_options.checkpoints = checkpoints.plan();
    launch_options.start_deadline = options_.launcher.start_deadline;
    launch_options.sets_rank_variables = options_.sets_rank_variables;
    launch_options.shares_gpus = shares_gpus(run_case(), machine_, options_.launcher.share_gpus);
    outcome_ = launch::launch(run_case(), launch_options, options_.launcher, relay_);
    take_counts(outcome_, samples_of(started_, outcome_));
    keep();
  }

  /// Stores the spans that are left, the program's output and the ranks.
  void ingest() {
    try {
      relay_.finish();
    } catch (const Error& error) {
      // The run ended because the store failed, whatever else was going on.
      kept_.run.state = store::RunState::kFailed;
      kept_.run.reason = error.message();
      throw;
    }
    while (output_.show(observer_)) {
    }
    output_.keep(store_.file(), started_.id);
    if (is_program(run_case())) {
      take_recording(ingest_program(store_, started_, directory_), started_, outcome_);
    } else {
      ingest_rest();
    }
    store_.put_ranks(started_.id, outcome_.ranks);
    keep();
  }

  /// Computes the rows of steps, collectives and kernels.
  void finalize() {
    // Stored before its rows are computed, so that finalize_run sees what the run was; done only after them.
    store_.update_run(kept_.run);
    analyzer::finalize_run(store_, started_.id);
    if (run_case().checkpoint_every > 0) store_goodput(store_, started_.id);
  }

 private:
  const RunCase& run_case() const { return started_.run_case; }

  void ingest_rest() {
    ingest_.drain();
    for (std::string& note : ingest_.notes()) outcome_.notes.push_back(std::move(note));
    for (store::RankRecord& rank : outcome_.ranks) {
      rank.dropped_spans = std::max(rank.dropped_spans, ingest_.dropped_spans(rank.rank));
    }
  }

  void keep() {
    kept_.run = ended_record(started_, outcome_, machine_, options_.launcher.share_gpus);
    kept_.ranks = outcome_.ranks;
  }

  const ExecuteOptions& options_;
  store::RunStore& store_;
  RunObserver& observer_;
  const host::Machine& machine_;
  std::filesystem::path directory_;
  KeptRun& kept_;
  store::RunRecord started_;  ///< with the ranks that its program started by itself, once they are ingested
  SpanIngest ingest_;
  ProgramOutput output_;
  LaunchRelay relay_;
  launch::LaunchOutcome outcome_;
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
  store.drive(kept.run.id);
  observer.on_start(kept.run);
  try {
    Execution execution(options, store, observer, machine, directory.path(), kept);
    execution.launch(checkpoints);
    const LifeSigns life(store.file(), kept.run.id);
    execution.ingest();
    execution.finalize();
  } catch (const std::exception& error) {
    throw keep_unstored_run(store, directory, std::move(kept), as_error(error));
  }
  return store.run(kept.run.id).value();
}

}  // namespace ddbench::experiment
