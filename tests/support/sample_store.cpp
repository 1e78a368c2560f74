#include "sample_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/finalize/finalize.h"

namespace ddbench::test {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr int kLayers = 3;
constexpr std::uint64_t kBucketBytes = 1'000'000;
const std::vector<std::string> kNames = {"step",       "host", "linear_forward", "linear_backward",
                                         "all_reduce", "sgd",  "batch"};
enum Name : std::uint32_t {
  kStepName,
  kHostName,
  kForwardName,
  kBackwardName,
  kAllReduceName,
  kSgdName,
  kBatchName
};

double link_bytes_per_ms(const RunCase& run_case) {
  if (run_case.nodes == 1) return 4e6;
  double rate = 1e6;
  if (!run_case.link.empty()) rate = std::strtod(run_case.link.c_str(), nullptr) * 125;
  if (run_case.link.find("gbit") != std::string::npos) rate *= 1000;
  return rate;
}

/// What one rank records; times on the reference clock, moved to the rank's own at the end.
class RankTrace {
 public:
  RankTrace(const SampleRun& run, int rank)
      : run_(run), rank_(rank), random_(run.number * 1000u + static_cast<unsigned>(rank)) {}

  Span& add(SpanKind kind, Name name, std::int64_t begin_ns, std::int64_t end_ns, Lane lane = Lane::kMain) {
    Span& span = spans.emplace_back();
    span.begin_ns = begin_ns;
    span.end_ns = std::max(begin_ns, end_ns);
    span.kind = kind;
    span.name_id = name;
    span.step = step;
    span.lane = lane;
    return span;
  }

  /// Up to the end of backward; returns when each bucket is ready.
  std::vector<std::int64_t> compute(std::int64_t begin_ns) {
    std::lognormal_distribution<double> scatter(0, 0.03);
    const double slow_ms = rank_ + 1 == run_.run_case.world_size() ? run_.straggler_ms : 0;
    const double layer_ms = (run_.compute_ms + slow_ms) / (3 * kLayers);
    std::int64_t at = begin_ns;
    const auto spend = [&](double ms) { return at + static_cast<std::int64_t>(ms * scatter(random_) * kMs); };
    add(SpanKind::kDataWait, kBatchName, at, spend(0.08));
    at = spans.back().end_ns;
    add(SpanKind::kHost, kHostName, at, spend(0.15));
    at = spans.back().end_ns;
    for (int layer = 0; layer < kLayers; ++layer) {
      add(SpanKind::kForward, kForwardName, at, spend(layer_ms));
      at = spans.back().end_ns;
    }
    std::vector<std::int64_t> ready_ns;
    for (int layer = 0; layer < kLayers; ++layer) {
      add(SpanKind::kBackward, kBackwardName, at, spend(2 * layer_ms));
      at = spans.back().end_ns;
      ready_ns.push_back(at);
    }
    return ready_ns;
  }

  std::vector<Span> spans;
  std::uint32_t step = 0;

 private:
  const SampleRun& run_;
  int rank_;
  std::mt19937_64 random_;
};

/// All ranks of one step; returns when the next one begins.
std::int64_t trace_step(const SampleRun& run, std::vector<RankTrace>& ranks, std::uint32_t step,
                        std::int64_t begin_ns) {
  const int n = run.run_case.world_size();
  std::vector<std::vector<std::int64_t>> ready_ns;
  for (RankTrace& rank : ranks) {
    rank.step = step;
    ready_ns.push_back(rank.compute(begin_ns));
  }
  const double wire_bytes = static_cast<double>(kBucketBytes) * 2 * (n - 1) / n;
  const auto transfer_ns =
      static_cast<std::int64_t>((wire_bytes / link_bytes_per_ms(run.run_case) + 0.02 * (n - 1)) * kMs);
  std::int64_t free_ns = begin_ns;
  for (std::size_t bucket = 0; n > 1 && bucket < kLayers; ++bucket) {
    std::int64_t all_there_ns = free_ns;
    for (const auto& ready : ready_ns) all_there_ns = std::max(all_there_ns, ready[bucket]);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      Span& span =
          ranks[r].add(SpanKind::kCommunication, kAllReduceName, std::max(free_ns, ready_ns[r][bucket]),
                       all_there_ns + transfer_ns, Lane::kCommunication);
      span.bucket = static_cast<std::uint16_t>(bucket);
      span.bytes = kBucketBytes;
      span.correlation = collective_key(1, step * kLayers + bucket + 1);
    }
    free_ns = all_there_ns + transfer_ns;
  }
  std::int64_t end_ns = begin_ns;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::int64_t update_ns = std::max(free_ns, ready_ns[r].back());
    ranks[r].add(SpanKind::kOptimizer, kSgdName, update_ns, update_ns + kMs / 4);
    end_ns = std::max(end_ns, update_ns + kMs / 4 + 20'000);
  }
  for (RankTrace& rank : ranks) rank.add(SpanKind::kStep, kStepName, begin_ns, end_ns);
  return end_ns;
}

std::int64_t clock_offset_ns(int node) {
  return 1'700'000LL * node;
}

std::vector<store::RankRecord> rank_records(const SampleRun& run, std::int64_t begin_ns,
                                            std::int64_t end_ns) {
  std::vector<store::RankRecord> records;
  for (int rank = 0; rank < run.run_case.world_size(); ++rank) {
    store::RankRecord& record = records.emplace_back();
    record.rank = rank;
    record.local_rank = rank % run.run_case.gpus_per_node;
    record.node = rank / run.run_case.gpus_per_node;
    record.host = fmt::format("node{}", record.node);
    record.pid = 4000 + rank;
    record.cores = std::to_string(record.local_rank);
    record.clock.shared_clock = record.node == 0;
    const std::int64_t offset_ns = clock_offset_ns(record.node);
    record.clock.start = {begin_ns - offset_ns, offset_ns, record.node == 0 ? 0 : 4'000};
    record.clock.end = {end_ns - offset_ns, offset_ns, record.node == 0 ? 0 : 4'000};
    record.peak_memory_bytes = 182'000'000 + 1'000'000 * rank;
    record.parameter_hash = "5be1c0de00112233";
    record.outcome = "ok";
  }
  return records;
}

store::RunRecord run_record(const SampleRun& run, const store::RunId& id) {
  store::RunRecord record;
  record.id = id;
  record.run_case = run.run_case;
  record.state = store::RunState::kDone;
  record.sweep_id = run.sweep_id;
  record.baseline_id = run.baseline_id;
  record.is_baseline = run.is_baseline;
  record.repetition = run.repetition;
  record.provenance.add(Provenance::kMeasured);
  if (run.run_case.nodes > 1) record.provenance.add(Provenance::kEmulatedNetwork);
  record.environment.fingerprint = "a1b2c3d4e5f60718";
  record.environment.network = run.run_case.nodes == 1 ? "loopback" : "veth";
  if (run.run_case.nodes > 1 && !run.run_case.link.empty())
    record.environment.network += "@" + run.run_case.link;
  record.environment.facts = {{"cpu.model", "Example CPU @ 2.60GHz"},
                              {"cpu.cores", "64"},
                              {"memory.bytes", "67430912000"},
                              {"kernel", "6.1.0"}};
  record.started_wall_ns = 1'795'226'400'000'000'000 + run.number * 60'000'000'000LL;
  record.finished_wall_ns = record.started_wall_ns + 2'000'000'000;
  return record;
}

}  // namespace

store::RunId add_sample_run(store::RunStore& store, const SampleRun& run) {
  const store::RunId id =
      run.id.empty() ? fmt::format("20261121T02{:02}00-{:08x}", run.number % 60, 0xabc000 + run.number)
                     : run.id;
  store.create_run(run_record(run, id));
  constexpr std::int64_t kBegin_ns = 5'000'000'000'000;
  std::vector<RankTrace> ranks;
  for (int rank = 0; rank < run.run_case.world_size(); ++rank) ranks.emplace_back(run, rank);
  std::int64_t end_ns = kBegin_ns;
  for (int step = 0; step < run.run_case.total_steps(); ++step) {
    end_ns = trace_step(run, ranks, static_cast<std::uint32_t>(step), end_ns);
  }
  store.put_ranks(id, rank_records(run, kBegin_ns, end_ns));
  for (int rank = 0; rank < run.run_case.world_size(); ++rank) {
    std::vector<Span>& spans = ranks[static_cast<std::size_t>(rank)].spans;
    for (Span& span : spans) {
      span.begin_ns -= clock_offset_ns(rank / run.run_case.gpus_per_node);
      span.end_ns -= clock_offset_ns(rank / run.run_case.gpus_per_node);
    }
    store.append_spans(id, rank, spans, kNames);
    std::vector<std::pair<std::uint32_t, double>> losses;
    for (int step = 0; step < run.run_case.total_steps(); ++step) {
      losses.emplace_back(step, 0.2 + 2.1 * std::exp(-step / 15.0) + 0.01 * std::sin(step * 1.7 + rank));
    }
    store.append_step_values(id, rank, "loss", losses);
  }
  analyzer::finalize_run(store, id);
  return id;
}

std::vector<store::RunId> add_sample_sweep(store::RunStore& store, const SampleSweep& sweep) {
  std::vector<store::RunId> ids;
  for (int repetition = 0; repetition < sweep.repetitions; ++repetition) {
    for (const int nodes : sweep.nodes) {
      for (const int gpus : sweep.gpus_per_node) {
        for (const std::string& link : nodes == 1 ? std::vector<std::string>{""} : sweep.links) {
          SampleRun run;
          run.number = static_cast<int>(ids.size());
          run.run_case.nodes = nodes;
          run.run_case.gpus_per_node = gpus;
          run.run_case.link = link;
          run.run_case.steps = sweep.steps;
          run.sweep_id = sweep.id;
          run.repetition = repetition;
          if (!ids.empty()) run.baseline_id = ids.front();
          ids.push_back(add_sample_run(store, run));
        }
      }
    }
  }
  if (!sweep.with_failures || ids.size() < 3) return ids;
  store::RunRecord failed = *store.run(ids.back());
  failed.state = store::RunState::kFailed;
  failed.reason = "rank 3 on node 1 was killed by signal 9 (out of memory?)";
  store.update_run(failed);
  store::RunRecord invalid = *store.run(ids[ids.size() / 2]);
  invalid.valid = false;
  invalid.invalid_reason = "replicas differ after the last step: rank 1 has other parameters than rank 0";
  store.update_run(invalid);
  return ids;
}

}  // namespace ddbench::test
