#include "stored_runs.h"

#include <cmath>
#include <cstdio>

namespace ddbench::test {

StoredRun run_of(const RunCase& run_case, double step_ms) {
  StoredRun run;
  run.run_case = run_case;
  run.step_ms = step_ms;
  return run;
}

RunCase sized(int nodes, int gpus_per_node) {
  RunCase run_case;
  run_case.nodes = nodes;
  run_case.gpus_per_node = gpus_per_node;
  run_case.steps = 20;
  run_case.warmup = 0;
  return run_case;
}

RunCase strong(int nodes, int gpus_per_node, std::int64_t global_batch) {
  RunCase run_case = sized(nodes, gpus_per_node);
  run_case.scaling = ScalingMode::kStrong;
  run_case.batch_per_gpu = global_batch / run_case.world_size();
  return run_case;
}

store::RunId add_run(store::RunStore& store, const StoredRun& stored) {
  const auto number = static_cast<unsigned>(store.runs().size());
  char id[40];
  std::snprintf(id, sizeof id, "20260101T%06u-%08x", number, number);
  store::RunRecord run;
  run.id = id;
  run.run_case = stored.run_case;
  run.state = stored.state;
  run.reason = stored.reason;
  run.sweep_id = stored.sweep_id;
  run.provenance = stored.provenance;
  run.environment.network = stored.network;
  run.environment.facts = stored.facts;
  run.started_wall_ns = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(number) * 1'000'000'000;
  run.finished_wall_ns = run.started_wall_ns + static_cast<std::int64_t>(4 * 20 * stored.step_ms * 1e6);
  store.create_run(run);
  store::RankRecord rank;
  rank.host = "here";
  store.put_ranks(run.id, std::vector{rank});
  std::vector<store::StepRecord> steps;
  for (std::uint32_t number_of_step = 0; number_of_step < 20; ++number_of_step) {
    store::StepRecord step;
    step.step = number_of_step;
    step.duration_ns = std::llround(stored.step_ms * 1e6);
    step.begin_ns = number_of_step * step.duration_ns;
    step.partition[store::StepPart::kExposedTransfer] = std::llround(stored.exposed_ms * 1e6);
    step.partition[store::StepPart::kBackward] =
        step.duration_ns - step.partition[store::StepPart::kExposedTransfer];
    step.communication_ns = step.partition[store::StepPart::kExposedTransfer];
    steps.push_back(step);
  }
  store.put_steps(run.id, steps);
  std::vector<store::CollectiveRecord> collectives = stored.collectives;
  for (store::CollectiveRecord& collective : collectives) {
    if (collective.communicator == store::CommunicatorRecord{}) collective.communicator.ranks = run.run_case.world_size();
  }
  store.put_collectives(run.id, collectives);
  store.put_kernels(run.id, stored.kernels);
  return run.id;
}

}  // namespace ddbench::test
