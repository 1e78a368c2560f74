#include "analyzer/finalize/rank_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/run/analysis_facts.h"
#include "analyzer/run/utilisation.h"
#include "core/bounded.h"
#include "core/probe_cost.h"

namespace ddbench::analyzer {
namespace {

constexpr std::string_view kNcclSetting = "nccl.NCCL_";

// As probes/cuda names them. Each that is not 0, but the first, limits what the figures say.
constexpr const char* kDeviceCounters[] = {
    "cupti.records",       kFactDroppedCuptiRecords, "cupti.refused_buffers", "cupti.invalid_times",
    "cupti.without_range", "cupti.recording_errors", "cupti.overhead_ns",     "nccl.unfinished",
    "nccl.unpaired",       "nccl.foreign_proxies",   "nccl.unknown_functions"};

struct Told {
  std::string fact;
  std::string value;
};

/// Most names are no facts.
Told told_by(const std::string& name) {
  const std::size_t end = name.find(": ");
  return end == std::string::npos ? Told{} : Told{name.substr(0, end), name.substr(end + 2)};
}

}  // namespace

void add_told_facts(const store::RunStore& store, const store::RunId& run,
                    const std::vector<store::RankRecord>& ranks, std::map<std::string, std::string>& facts) {
  std::size_t without_kernels = 0;
  for (const store::RankRecord& rank : ranks) {
    bool has_kernels = true;
    for (const std::string& name : store.span_names(run, rank.rank)) {
      const Told told = told_by(name);
      // All ranks capture, or none, and rank 0 tells its settings. A later word is of what happened later.
      const bool is_rank_0s = told.fact == kFactCudaGraph || told.fact.starts_with(kNcclSetting);
      if (is_rank_0s && rank.rank == ranks.front().rank) facts[told.fact] = told.value;
      if (told.fact == kFactCpuWaitUnavailable) facts[told.fact] = told.value;
      if (told.fact != kFactCuptiUnavailable) continue;
      facts[told.fact] = told.value;
      has_kernels = false;
    }
    without_kernels += !has_kernels;
  }
  if (without_kernels == 0 || without_kernels == ranks.size()) return;
  facts[kFactCuptiUnavailable] += fmt::format(" (on {} of {} ranks)", without_kernels, ranks.size());
}

void add_counted_facts(const store::RunStore& store, const store::RunId& run,
                       const std::vector<store::RankRecord>& ranks,
                       std::map<std::string, std::string>& facts) {
  for (const char* const name : kDeviceCounters) {
    double count = 0;
    for (const store::RankRecord& rank : ranks) {
      const auto values = store.step_values(run, rank.rank, name);  // so far, again and again
      if (!values.empty()) count += values.back().second;
    }
    if (count != 0) facts[name] = fmt::format("{:.0f}", count);
  }
  const auto peak = store.step_values(run, 0, "gemm_peak_tflops");
  if (!peak.empty()) facts[kFactGemmPeak] = fmt::format("{:.6g}", peak.back().second);
  for (const std::string_view name :
       {kProbeSpansPerStep, kProbePush_ns, kProbeDrainPerStep_ns, kProbeReadingsPerStep_ns}) {
    double sum = 0;
    std::size_t told = 0;
    for (const store::RankRecord& rank : ranks) {
      const auto values = store.step_values(run, rank.rank, name);
      if (values.empty()) continue;
      sum += values.back().second;
      ++told;
    }
    if (told != 0) facts[std::string(name)] = fmt::format("{:.6g}", sum / static_cast<double>(told));
  }
  // All ranks have the same scale; rank 0 tells it.
  const auto scale = store.step_values(run, 0, "loss_scale");
  if (!scale.empty()) facts[kFactLossScale] = fmt::format("{:g}", scale.back().second);
  double skipped = 0;
  for (const auto& [step, value] : store.step_values(run, 0, "skipped_update")) skipped += value;
  facts.erase(kFactSkippedUpdates);
  if (const std::int64_t count = bounded(skipped, 0, std::int64_t{1} << 53); count > 0)
    facts[kFactSkippedUpdates] = std::to_string(count);
}

}  // namespace ddbench::analyzer
