#include "analyzer/finalize/rank_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/bounded.h"

namespace ddbench::analyzer {
namespace {

// Names as in probes/cuda. Each of them that is not 0, except the first, limits the validity of the figures.
constexpr std::array kDeviceCounters{
    fact_key<"cupti.records">,        fact_key<"cupti.dropped_records">, fact_key<"cupti.refused_buffers">,
    fact_key<"cupti.invalid_times">,  fact_key<"cupti.without_range">,   fact_key<"cupti.recording_errors">,
    fact_key<"cupti.overhead_ns">,    fact_key<"nccl.unfinished">,       fact_key<"nccl.unpaired">,
    fact_key<"nccl.foreign_proxies">, fact_key<"nccl.unknown_functions">, fact_key<"nccl.unknown_bytes">,
    fact_key<"nccl.with_phases">,     fact_key<"nccl.initial_sync_ns">,  fact_key<"nccl.final_sync_ns">,
    fact_key<"cupti.filtered_windows">, fact_key<"cupti.hardware_events">};

constexpr std::array kProbeCosts{fact_key<"probe_cost.spans">, fact_key<"probe_cost.push_ns">,
                                 fact_key<"probe_cost.drain_ns">, fact_key<"probe_cost.readings_ns">};

constexpr std::array kMemoryUses{fact_key<"memory.parameters_bytes">,  fact_key<"memory.gradients_bytes">,
                                 fact_key<"memory.optimizer_bytes">,   fact_key<"memory.activations_bytes">,
                                 fact_key<"memory.buckets_bytes">,     fact_key<"memory.batches_bytes">,
                                 fact_key<"memory.workspace_bytes">,   fact_key<"memory.other_bytes">};

constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;

constexpr auto kWithoutKernels = fact_key<"cupti.unavailable">;

/// Whether the rank may report this fact. Either all ranks capture a graph or none does, all have the same NCCL settings, and all are
/// taken to have the same gradients: such facts are taken from rank 0.
bool is_heard(const ReportedFact& fact, bool from_rank_0) {
  const bool is_of_all =
      fact.key == fact_key<"training.cuda_graph">.name || fact.key == fact_key<"cupti.detail">.name ||
      fact.key == fact_key<"cupti.shared_with">.name || fact.key == fact_key<"nccl.no_kernel_events">.name ||
      fact.key == fact_key<"workload.gradient_bytes">.name ||
      find_fact(fact.key)->key == "nccl.NCCL_*";
  return is_of_all ? from_rank_0
                   : fact.key == kWithoutKernels.name || fact.key == fact_key<"cpu_wait.unavailable">.name;
}

/// What the allocators of the ranks' devices gave out at their peak: of all ranks, and by use of the one with most.
void add_memory_facts(const store::RunStore& store, const store::RunId& run,
                      const std::vector<store::RankRecord>& ranks, Facts& facts) {
  const auto last = [&](int rank, std::string_view name) {
    const auto values = store.step_values(run, rank, std::string(name));
    return values.empty() ? std::int64_t{0} : bounded(values.back().second, 0, kMostCounted);
  };
  std::vector<std::string> peaks;
  std::int64_t most = 0;
  int fullest = 0;
  for (const store::RankRecord& rank : ranks) {
    const std::int64_t peak = last(rank.rank, fact_key<"memory.device_peak_bytes">.name);
    if (peak == 0) return;  // not all ranks said it
    peaks.push_back(std::to_string(peak));
    if (peak > most) fullest = rank.rank;
    most = std::max(most, peak);
  }
  if (most == 0) return;
  if (std::all_of(peaks.begin(), peaks.end(), [&](const std::string& peak) { return peak == peaks.front(); }))
    peaks.resize(1);
  set_fact(facts, fact_key<"memory.device_peak_bytes">, most);
  set_fact(facts, fact_key<"memory.device_peak_of_ranks">, peaks);
  for (const FactKey<std::int64_t>& key : kMemoryUses) set_fact(facts, key, last(fullest, key.name));
  for (const auto& key : {fact_key<"memory.device_reserved_bytes">, fact_key<"memory.offloaded_bytes">})
    set_count(facts, key, last(fullest, key.name));
}

}  // namespace

void add_reported_facts(const store::RunStore& store, const store::RunId& run,
                        const std::vector<store::RankRecord>& ranks, Facts& facts) {
  std::size_t without_kernels = 0;
  for (const store::RankRecord& rank : ranks) {
    bool has_kernels = true;
    for (const std::string& name : store.span_names(run, rank.rank)) {
      const std::optional<ReportedFact> reported = reported_fact(name);
      if (!reported || !is_heard(*reported, rank.rank == ranks.front().rank)) continue;
      facts[reported->key] = reported->text;  // a later report describes a later state
      has_kernels &= reported->key != kWithoutKernels.name;
    }
    without_kernels += !has_kernels;
  }
  if (without_kernels == 0 || without_kernels == ranks.size()) return;
  set_fact(facts, kWithoutKernels,
           fmt::format("{} (on {} of {} ranks)", *get_fact(facts, kWithoutKernels), without_kernels,
                       ranks.size()));
}

void add_counted_facts(const store::RunStore& store, const store::RunId& run,
                       const std::vector<store::RankRecord>& ranks, Facts& facts) {
  for (const FactKey<std::int64_t>& key : kDeviceCounters) {
    double count = 0;
    for (const store::RankRecord& rank : ranks) {
      const auto values = store.step_values(run, rank.rank, key.name);  // so far, again and again
      if (!values.empty()) count += values.back().second;
    }
    if (count != 0) set_fact(facts, key, bounded(count, 0, kMostCounted));
  }
  // A version, not a count: the newest of all ranks.
  double newest = 0;
  for (const store::RankRecord& rank : ranks) {
    const auto values = store.step_values(run, rank.rank, fact_key<"cupti.newer_records">.name);
    if (!values.empty()) newest = std::max(newest, values.back().second);
  }
  set_count(facts, fact_key<"cupti.newer_records">, bounded(newest, 0, kMostCounted));
  add_memory_facts(store, run, ranks, facts);
  const auto peak = store.step_values(run, 0, "gemm_peak_tflops");
  if (!peak.empty()) set_fact(facts, fact_key<"device.gemm_peak_tflops">, peak.back().second);
  for (const FactKey<double>& key :
       {fact_key<"gradients.narrow_ns_per_mib">, fact_key<"gradients.widen_ns_per_mib">}) {
    const auto values = store.step_values(run, 0, key.name);
    if (!values.empty()) set_fact(facts, key, values.back().second);
  }
  for (const FactKey<double>& key : kProbeCosts) {
    double sum = 0;
    std::size_t reports = 0;
    for (const store::RankRecord& rank : ranks) {
      const auto values = store.step_values(run, rank.rank, key.name);
      if (values.empty()) continue;
      sum += values.back().second;
      ++reports;
    }
    if (reports != 0) set_fact(facts, key, sum / static_cast<double>(reports));
  }
  // All ranks have the same scale; rank 0 reports it.
  const auto scale = store.step_values(run, 0, "loss_scale");
  if (!scale.empty()) set_fact(facts, fact_key<"training.loss_scale">, scale.back().second);
  double skipped = 0;
  for (const auto& [step, value] : store.step_values(run, 0, "skipped_update")) skipped += value;
  set_count(facts, fact_key<"training.skipped_updates">,
            std::max<std::int64_t>(0, bounded(skipped, 0, kMostCounted)));
}

}  // namespace ddbench::analyzer
