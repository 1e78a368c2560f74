#include "harness/experiment/sku/settle_sku.h"

#include <utility>

#include "analyzer/catalogue/sku_check.h"

namespace ddbench::experiment {
namespace {

analyzer::FoundMachine found_machine(const host::Machine& machine) {
  analyzer::FoundMachine found;
  for (const host::Gpu& gpu : machine.gpus) found.gpus.push_back(gpu.model ? *gpu.model : "");
  // Without the driver's list of models nothing is reported about them.
  std::erase(found.gpus, "");
  found.knows_gpus = found.gpus.size() == machine.gpus.size();
  if (machine.cores) found.cores = *machine.cores;
  return found;
}

}  // namespace

std::vector<std::string> check_sku(RunCase& run_case, const analyzer::SkuCatalogue& catalogue, bool ranks_take_gpus) {
  if (run_case.sku.empty()) return {};
  const analyzer::Sku* const sku = catalogue.find_sku(run_case.sku);
  if (sku == nullptr) return {analyzer::unknown_sku(catalogue, run_case.sku)};
  run_case.sku = sku->name;
  // A device that was not named is the CPU on a SKU without GPUs.
  const bool takes_gpus = ranks_take_gpus && (sku->gpus > 0 || run_case.on_gpus());
  analyzer::require_of_sku(*sku, {takes_gpus ? run_case.gpus_per_node : 0, run_case.requested_network == NetworkRequest::kInfiniBand});
  return {};
}

std::vector<std::string> compare_with_machine(RunCase& run_case, const analyzer::SkuCatalogue& catalogue,
                                              const host::Machine& machine, const Measured<std::string>& metadata_sku) {
  if (run_case.sku.empty() && metadata_sku) {
    const analyzer::Sku* const known = catalogue.find_sku(*metadata_sku);
    run_case.sku = known != nullptr ? known->name : *metadata_sku;
  }
  const analyzer::Sku* const sku = catalogue.find_sku(run_case.sku);
  if (sku == nullptr) return {};
  analyzer::FoundMachine found = found_machine(machine);
  if (metadata_sku) found.sku = *metadata_sku;
  return analyzer::contradictions(*sku, found);
}

}  // namespace ddbench::experiment
