#include "analyzer/run/utilisation.h"

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/facts/facts.h"

namespace ddbench::analyzer {
namespace {

Measured<double> positive_fact(const store::RunRecord& run, const FactKey<double>& key, const char* reason) {
  const Measured<double> value = get_fact(run.environment.facts, key);
  return value && *value > 0 ? value : Measured<double>::missing(reason);
}

/// For one device. A CPU has a measured peak: a trial run on a CPU may have a SKU whose GPUs it did not use.
Measured<double> peak_tflops(const store::RunRecord& run, const SkuCatalogue& catalogue) {
  const bool on_cpu = run.run_case.device == "cpu" && !run.provenance.has(Provenance::kImported);
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
               run.run_case.device == "cpu" ? fact_key<"cpu.cores"> : fact_key<"gpu.count">)
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
  return {peak, share_of(peak, run, fact_key<"workload.flops_per_sample">, samples_per_s, devices),
          share_of(peak, run, fact_key<"workload.hardware_flops_per_sample">, samples_per_s, devices),
          devices};
}

}  // namespace ddbench::analyzer
