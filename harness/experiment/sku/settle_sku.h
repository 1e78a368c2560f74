#pragma once

#include <string>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/measured.h"
#include "core/run_case/run_case.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {

/// Gives RunCase::sku the catalogue's spelling, and refuses (Error{kBadInput}) requests that a node of it
/// does not satisfy: GPUs (if each rank takes one), or InfiniBand. Returns notes about a name that the
/// catalogue lacks; does not query the machine.
std::vector<std::string> check_sku(RunCase& run_case, const analyzer::SkuCatalogue& catalogue, bool ranks_take_gpus);

/// For a case whose nodes are machines like this one: an empty RunCase::sku becomes `metadata_sku` (sku_from_metadata), if there is
/// one. Returns in what the machine contradicts the SKU, as sentences. Does not throw.
std::vector<std::string> compare_with_machine(RunCase& run_case, const analyzer::SkuCatalogue& catalogue,
                                              const host::Machine& machine, const Measured<std::string>& metadata_sku);

}  // namespace ddbench::experiment
