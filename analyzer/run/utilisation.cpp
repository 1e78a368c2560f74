#include "analyzer/run/utilisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/bounded.h"
#include "core/facts/facts.h"
#include "core/span_limits.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr std::array kUses{fact_key<"memory.parameters_bytes">,  fact_key<"memory.gradients_bytes">,
                           fact_key<"memory.optimizer_bytes">,   fact_key<"memory.activations_bytes">,
                           fact_key<"memory.buckets_bytes">,     fact_key<"memory.batches_bytes">,
                           fact_key<"memory.workspace_bytes">,   fact_key<"memory.other_bytes">};

Measured<double> positive_fact(const store::RunRecord& run, const FactKey<double>& key, const char* reason) {
  const Measured<double> value = get_fact(run.environment.facts, key);
  return value && *value > 0 ? value : Measured<double>::missing(reason);
}

/// For one device. A CPU has a measured peak: a trial run on a CPU may have a SKU whose GPUs it did not use.
Measured<double> peak_tflops(const store::RunRecord& run, const SkuCatalogue& catalogue) {
  const bool on_cpu = run.run_case.on_cpu() && !run.provenance.has(Provenance::kImported);
  if (on_cpu)
    return positive_fact(run, fact_key<"device.gemm_peak_tflops">, "the run did not measure its CPU's peak");
  return catalogue.peak_tflops(run.run_case.sku, run.run_case.precision);
}

/// `flops_per_sample` selects MFU or HFU.
Measured<double> share_of(const Measured<double>& peak, const store::RunRecord& run,
                          const FactKey<double>& flops_per_sample, double samples_per_s, int devices) {
  const Measured<double> flops = positive_fact(run, flops_per_sample, "the FLOPs of a sample are not known");
  if (!flops) return flops;
  if (!peak) return peak;
  return flops_utilization(samples_per_s, *flops, devices, *peak);
}

}  // namespace

int physical_devices(const store::RunRecord& run, std::span<const store::RankRecord> ranks) {
  const int world_size = run.run_case.world_size();
  const bool is_whole = ranks.size() == static_cast<std::size_t>(world_size);
  const std::int64_t on_a_host =
      get_fact(run.environment.facts,
               run.run_case.on_cpu() ? fact_key<"cpu.cores"> : fact_key<"gpu.count">)
          .value_or(0);
  if (!is_whole || on_a_host <= 0 || run.provenance.has(Provenance::kImported)) return world_size;
  std::map<std::string, std::int64_t> ranks_of_host;
  for (const store::RankRecord& rank : ranks) ++ranks_of_host[rank.host];
  std::int64_t devices = 0;
  for (const auto& [host, count] : ranks_of_host) devices += std::min(count, on_a_host);
  return static_cast<int>(devices);
}

Utilisation utilisation_of(const store::RunRecord& run, std::span<const store::RankRecord> ranks,
                           double samples_per_s, const SkuCatalogue& catalogue) {
  const Measured<double> peak = peak_tflops(run, catalogue);
  const int devices = physical_devices(run, ranks);
  const Measured<double> flops = positive_fact(run, fact_key<"workload.flops_per_sample">, "the FLOPs of a sample are not known");
  const Measured<double> tflops = flops ? Measured<double>(samples_per_s * *flops / devices / 1e12) : flops;
  return {peak, tflops, share_of(peak, run, fact_key<"workload.flops_per_sample">, samples_per_s, devices),
          share_of(peak, run, fact_key<"workload.hardware_flops_per_sample">, samples_per_s, devices),
          devices};
}

Measured<DeviceMemory> device_memory_of(const store::RunRecord& run) {
  const Facts& facts = run.environment.facts;
  const auto peak = get_fact(facts, fact_key<"memory.device_peak_bytes">);
  if (!peak || *peak <= 0) return Measured<DeviceMemory>::missing("no allocator of a device reported it");
  DeviceMemory memory;
  memory.peak_bytes = *peak;
  for (const std::string& text : get_fact(facts, fact_key<"memory.device_peak_of_ranks">).value_or({}))
    memory.bytes_of_ranks.push_back(number_from<std::int64_t>(text).value_or(0));
  for (const FactKey<std::int64_t>& key : kUses) {
    const std::int64_t bytes = get_fact(facts, key).value_or(0);
    const std::string_view name = key.name;
    if (bytes > 0) memory.parts.emplace_back(name.substr(7, name.size() - 7 - 6), bytes);
  }
  memory.reserved_bytes = get_fact(facts, fact_key<"memory.device_reserved_bytes">).value_or(0);
  memory.offloaded_bytes = get_fact(facts, fact_key<"memory.offloaded_bytes">).value_or(0);
  memory.predicted_bytes = get_fact(facts, fact_key<"memory.predicted_bytes">);
  return memory;
}

std::vector<GpuMemory> gpu_memory_of(const store::RunRecord& run) {
  constexpr std::string_view kBegin = "gpu.";
  constexpr std::string_view kEnd = ".peak_memory_bytes";
  std::vector<GpuMemory> gpus;
  for (const auto& [key, value] : run.environment.facts) {
    const std::string_view name = detail::counted_name(key);
    const auto peak = number_from<double>(value);
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || !peak) continue;
    const std::string_view before = std::string_view(key).substr(0, key.size() - name.size());
    const std::string number(name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size()));
    const std::string node = before.starts_with("counted.node")
                                 ? std::string(before.substr(12, before.size() - 13)) : std::string();
    const auto total = run.environment.facts.find(fmt::format("{}gpu.{}.memory_bytes", before, number));
    gpus.push_back({(node.empty() ? "" : "node " + node + " ") + "GPU " + number, bounded(*peak, 0, kMostBytes),
                    total == run.environment.facts.end()
                        ? 0
                        : bounded(number_from<double>(total->second).value_or(0), 0, kMostBytes)});
  }
  return gpus;
}

Measured<double> device_peak_bytes(const store::RunRecord& run) {
  if (const auto memory = device_memory_of(run)) return static_cast<double>(memory->peak_bytes);
  std::int64_t most = 0;
  for (const GpuMemory& gpu : gpu_memory_of(run)) most = std::max(most, gpu.peak_bytes);
  if (most > 0) return static_cast<double>(most);
  return Measured<double>::missing("neither the allocator of a device nor NVML reported it");
}

}  // namespace ddbench::analyzer
