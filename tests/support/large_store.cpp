#include "large_store.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/batch/batch_analysis.h"
#include "analyzer/finalize/finalize.h"
#include "analyzer/store/rows/run_store.h"
#include "ddp_trace.h"

namespace ddbench::test {
namespace {

constexpr int kSpansAStep = 25;
constexpr std::array<int, 4> kWorldSizes = {1, 2, 4, 8};

store::RunRecord record_of(int number, int spans_per_run) {
  store::RunRecord run;
  char id[64];
  std::snprintf(id, sizeof id, "20260101T%06d-%08x", number, static_cast<unsigned>(number));
  run.id = id;
  const int world = kWorldSizes[static_cast<std::size_t>(number) % kWorldSizes.size()];
  run.run_case.nodes = std::max(1, world / 2);
  run.run_case.gpus_per_node = world / run.run_case.nodes;
  if (run.run_case.nodes > 1) run.run_case.link = number / 4 % 2 == 0 ? "10gbit" : "1gbit";
  run.run_case.warmup = 0;
  run.run_case.steps = std::max(1, spans_per_run / kSpansAStep / world);
  run.run_case.name = "nightly";
  run.run_case.target_loss = 0.5;
  run.state = store::RunState::kDone;
  run.sweep_id = "sweep-" + std::to_string(number / 100);
  run.provenance = {Provenance::kMeasured};
  run.environment.network = run.run_case.nodes > 1 ? "ethernet" : "loopback";
  run.environment.fingerprint = "0123456789abcdef";
  for (int fact = 0; fact < 30; ++fact)
    run.environment.facts["fact." + std::to_string(fact)] = "value " + std::to_string(fact);
  run.started_wall_ns = 1'767'225'600'000'000'000 + number * 600'000'000'000LL;
  run.finished_wall_ns = run.started_wall_ns + 60'000'000'000LL;
  return run;
}

}  // namespace

void make_large_store(const std::filesystem::path& file, const LargeStore& options) {
  auto store = store::RunStore::open(file, store::OpenMode::kReadWrite);
  for (int number = 0; number < options.runs; ++number) {
    const store::RunRecord run = record_of(number, options.spans_per_run);
    store.create_run(run);
    std::vector<store::RankRecord> ranks;
    for (int rank = 0; rank < run.run_case.world_size(); ++rank) {
      store::RankRecord& record = ranks.emplace_back();
      record.rank = rank;
      record.node = rank / run.run_case.gpus_per_node;
      record.host = "node-" + std::to_string(record.node);
      record.clock.shared_clock = true;
      const Trace trace =
          ddp_trace({.steps = run.run_case.steps, .seed = static_cast<std::uint64_t>(number * 8 + rank)});
      store.append_spans(run.id, rank, trace.spans, trace.names);
    }
    const auto last = static_cast<std::uint32_t>(run.run_case.steps) - 1;
    const std::pair<std::uint32_t, double> losses[] = {{0, 2.0}, {last, 0.5}};
    store.append_step_values(run.id, 0, analyzer::kSmoothedLoss, losses);
    store.put_ranks(run.id, ranks);
    analyzer::finalize_run(store, run.id);
  }
}

void make_large_table(const std::filesystem::path& file, int rows) {
  std::ofstream table(file);
  table << "gpus,nodes,workload,batch_per_gpu,network,sku,throughput,team\n";
  for (int row = 0; row < rows; ++row) {
    const int gpus = 1 << row % 8;
    table << gpus << ',' << std::max(1, gpus / 8) << ",resnet50,32,infiniband,p4d.24xlarge,"
          << 300 * gpus - row % 7 << ",team " << row % 5 << '\n';
  }
}

}  // namespace ddbench::test
