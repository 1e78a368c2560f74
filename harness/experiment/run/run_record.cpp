#include "harness/experiment/run/run_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "core/run_case/scheduler_job.h"
#include "harness/collective/gloo_patch_switch.h"
#include "harness/experiment/ingest/launch_notes.h"
#include "harness/experiment/run/gpus.h"
#include "harness/experiment/run/network.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/footprint.h"
#include "harness/training/strategy/strategy_traffic.h"

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

/// DDP fills its buckets from the last parameter to the first (plan_buckets).
std::vector<std::string> bytes_of_gradients(const workload::Workload& workload) {
  std::vector<std::string> bytes;
  for (const workload::ParameterSpec& spec : workload.parameters()) bytes.push_back(fmt::to_string(spec.bytes()));
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

/// What the work is known to compute and send, or which files it consists of.
void add_work_facts(const RunCase& run_case, Facts& facts) {
  if (is_program(run_case)) return set_program_files(facts, shell_script_of(program_command(run_case)));
  if (run_case.backend == "gloo")
    set_fact(facts, fact_key<"gloo.trylock_patch">, collective::gloo_trylock_patch_is_on());
  if (!is_reference(run_case)) return;
  const auto workload = workload::make_workload(run_case);
  set_fact(facts, fact_key<"workload.flops_per_sample">, workload->flops_per_sample());
  set_fact(facts, fact_key<"workload.hardware_flops_per_sample">, workload->hardware_flops_per_sample());
  set_fact(facts, fact_key<"workload.gradient_bytes">, bytes_of_gradients(*workload));
  const ddp::StrategyTraffic traffic = ddp::strategy_traffic(run_case);
  set_fact(facts, fact_key<"strategy.sent_bytes_per_step">, traffic.sent_bytes);
  set_fact(facts, fact_key<"strategy.traffic">, traffic.formula);
  set_fact(facts, fact_key<"memory.predicted_bytes">, ddp::largest_footprint(run_case).total());
}

/// The hardware of the ranks' machines in the place of that of this one, where none of them may have been.
void take_hardware(store::RunRecord& run, const std::vector<host::Facts>& machines, host::Machine own) {
  if (machines.empty()) return;
  auto& facts = run.environment.facts;
  own.libraries.clear();  // those of the ranks are not reported
  own.commands.clear();
  for (const auto& [key, value] : host::facts(own)) facts.erase(key);
  facts.insert(machines.front().begin(), machines.front().end());
  set_fact(facts, fact_key<"launched_from.fingerprint">,
           std::exchange(run.environment.fingerprint, host::fingerprint(machines)));
}

}  // namespace

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
  add_work_facts(run_case, run.environment.facts);
  run.started_wall_ns = wall_ns();
  run.provenance = provenance_of(run_case, machine, options.launcher.share_gpus, "");
  store::set_owner_to_this_process(run);
  set_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">, run.started_wall_ns);
  return run;
}

store::RunRecord ended_record(store::RunRecord run, const launch::LaunchOutcome& outcome,
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
  if (!outcome.shared_cores_with.empty()) {
    run.provenance.add(Provenance::kOversubscribed);
    set_fact(run.environment.facts, fact_key<"cores.shared_with">, fmt::format("{}", fmt::join(outcome.shared_cores_with, ", ")));
  }
  run.finished_wall_ns = wall_ns();
  return run;
}

}  // namespace ddbench::experiment
