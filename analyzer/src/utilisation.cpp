#include "ddbench/analyzer/utilisation.h"

#include <charconv>
#include <cmath>

#include "ddbench/analyzer/sku_catalogue.h"

namespace ddbench::analyzer {
namespace {

Measured<double> positive_fact(const store::RunRecord& run, const char* name, const char* reason) {
  const auto fact = run.environment.facts.find(name);
  double value = 0;
  if (fact != run.environment.facts.end()) {
    std::from_chars(fact->second.data(), fact->second.data() + fact->second.size(), value);
  }
  if (value > 0 && std::isfinite(value)) return value;
  return Measured<double>::missing(reason);
}

/// Of one rank's device. A CPU has what was measured: the SKU of a run that tries something out on a CPU
/// names GPUs that did nothing.
Measured<double> peak_tflops(const store::RunRecord& run, const SkuCatalogue& catalogue) {
  const bool on_cpu = run.run_case.device == "cpu" && !run.provenance.has(Provenance::kImported);
  if (on_cpu) return positive_fact(run, kFactGemmPeak, "the run did not measure its CPU's peak");
  return catalogue.peak_tflops(run.run_case.sku, run.run_case.precision);
}

/// `flops_fact` says whether of MFU or HFU.
Measured<double> share_of(const Measured<double>& peak, const store::RunRecord& run, const char* flops_fact,
                          double samples_per_s) {
  const Measured<double> flops = positive_fact(run, flops_fact, "the FLOPs of a sample are not known");
  if (!flops) return flops;
  if (!peak) return peak;
  return flops_utilization(samples_per_s, *flops, run.run_case.world_size(), *peak);
}

}  // namespace

Utilisation utilisation_of(const store::RunRecord& run, double samples_per_s, const SkuCatalogue& catalogue) {
  const Measured<double> peak = peak_tflops(run, catalogue);
  return {peak, share_of(peak, run, kFactFlopsPerSample, samples_per_s),
          share_of(peak, run, kFactHardwareFlopsPerSample, samples_per_s)};
}

}  // namespace ddbench::analyzer
