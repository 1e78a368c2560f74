#include "synthetic_run.h"

#include <stdlib.h>

#include <algorithm>

namespace ddbench::analyzer {
namespace {

constexpr std::int64_t kOrigin_ns = 1'000'000'000'000;

std::filesystem::path make_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "ddbench-analyzer-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, {});
  return name;
}

}  // namespace

ScratchStore::ScratchStore()
    : directory_(make_directory()),
      store_(store::RunStore::open(directory_ / "results.db", store::OpenMode::kReadWrite)) {}

ScratchStore::~ScratchStore() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Span synthetic_span(SpanKind kind, std::uint32_t name_id, std::uint32_t step, std::int64_t begin_ns,
                    std::int64_t end_ns) {
  Span span;
  span.kind = kind;
  span.name_id = name_id;
  span.step = step;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  return span;
}

void SyntheticRun::set_world(int nodes, int gpus_per_node) {
  run_case.nodes = nodes;
  run_case.gpus_per_node = gpus_per_node;
  const auto ranks = static_cast<std::size_t>(run_case.world_size());
  lag_us.assign(ranks, 0);
  clock_offset_ns.assign(ranks, 0);
  parameter_hash.assign(ranks, "aa");
}

std::vector<Span> SyntheticRun::spans_of(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  const std::int64_t all_there = 22 + *std::max_element(lag_us.begin(), lag_us.end());
  std::vector<Span> spans;
  std::int64_t origin_ns = kOrigin_ns - clock_offset_ns[r];
  for (int number = 0; number < run_case.total_steps(); ++number) {
    const auto step = static_cast<std::uint32_t>(number);
    const bool off =
        probe_off_every > 0 && number >= run_case.warmup && (number - run_case.warmup) % probe_off_every == 1;
    const std::int64_t end_ns = origin_ns + step_us * kUs + (off ? 0 : probe_cost_ns);
    const auto add = [&](SpanKind kind, std::uint32_t name_id, std::int64_t begin_us,
                         std::int64_t end_us) -> Span& {
      return spans.emplace_back(
          synthetic_span(kind, name_id, step, origin_ns + begin_us * kUs, origin_ns + end_us * kUs));
    };
    if (!off) {
      add(SpanKind::kHost, 1, 0, 2);
      add(SpanKind::kForward, 2, 2, 12);
      add(SpanKind::kBackward, 3, 12, 32);
      std::int64_t optimizer_us = 32;
      if (run_case.world_size() > 1) {
        Span& collective = add(SpanKind::kCommunication, 4, 22 + lag_us[r], all_there + transfer_us);
        collective.lane = Lane::kCommunication;
        collective.bucket = 0;
        collective.bytes = bytes;
        collective.correlation = collective_key(0, step + 1);
        optimizer_us = std::max(optimizer_us, all_there + transfer_us);
      }
      add(SpanKind::kOptimizer, 5, optimizer_us, optimizer_us + 5);
    }
    spans.push_back(synthetic_span(SpanKind::kStep, 0, step, origin_ns, end_ns));
    spans.back().bucket = off ? std::uint16_t{0} : kNoBucket;
    origin_ns = end_ns;
  }
  return spans;
}

store::RunRecord SyntheticRun::record() const {
  store::RunRecord run;
  run.id = id;
  run.run_case = run_case;
  run.state = store::RunState::kDone;
  run.environment.fingerprint = "f1";
  run.environment.network = "veth";
  run.environment.facts["cpu.cores"] = "2";
  run.provenance.add(Provenance::kMeasured);
  run.started_wall_ns = 1'700'000'000'000'000'000 + std::stoll(id.substr(id.size() - 8), nullptr, 16);
  return run;
}

void SyntheticRun::store_into(store::RunStore& store) const {
  store_into(store, record());
}

void SyntheticRun::store_into(store::RunStore& store, const store::RunRecord& run) const {
  store.create_run(run);
  std::vector<store::RankRecord> ranks;
  for (int rank = 0; rank < run_case.world_size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    store::RankRecord& record = ranks.emplace_back();
    record.rank = rank;
    record.node = rank / run_case.gpus_per_node;
    record.host = "host";
    record.outcome = "ok";
    record.parameter_hash = parameter_hash[r];
    record.clock.shared_clock = clock_uncertainty_ns == 0;
    // Close around the steps: in the time between readings clocks wander.
    const std::int64_t begin_ns = kOrigin_ns - clock_offset_ns[r];
    record.clock.start = {begin_ns - 1000, clock_offset_ns[r], clock_uncertainty_ns};
    record.clock.end = {begin_ns + 10'000'000, clock_offset_ns[r], clock_uncertainty_ns};
  }
  store.put_ranks(id, ranks);
  for (int rank = 0; rank < run_case.world_size(); ++rank) {
    store.append_spans(id, rank, spans_of(rank), kSyntheticNames);
    std::vector<std::pair<std::uint32_t, double>> losses;
    for (int step = 0; step < run_case.total_steps(); ++step)
      losses.emplace_back(step, 2 - 0.01 * step + 0.5 * rank);
    store.append_step_values(id, rank, "loss", losses);
  }
}

}  // namespace ddbench::analyzer
