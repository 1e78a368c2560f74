#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"

namespace ddbench::analyzer {

/// What a run asks of each of its nodes.
struct AskedOfNode {
  int gpus = 0;         ///< 0: none, or not known
  bool infiniband = false;  ///< NCCL is to take it between nodes
};

/// Throws Error{kBadInput} if a node of the SKU has fewer GPUs than requested, or no InfiniBand that NCCL can
/// use.
void require_of_sku(const Sku& sku, const AskedOfNode& asked);

/// For a name that the catalogue does not have: what follows from that, and what was probably meant.
std::string unknown_sku(const SkuCatalogue& catalogue, std::string_view name);

/// Each of `prices` as SkuCatalogue::set_price. Throws Error{kBadInput} for one of a SKU that none of the runs has, with the SKU that
/// was probably meant: it would change nothing. `skus_of_runs`: as the runs name them.
void set_prices(SkuCatalogue& catalogue, std::span<const std::string> prices, const std::set<std::string>& skus_of_runs);

/// What a machine was found to have. Empty and 0: not known.
struct FoundMachine {
  std::vector<std::string> gpus;  ///< models, as the driver names them
  bool knows_gpus = true;         ///< false: `gpus` has no meaning
  int cores = 0;                  ///< that processes may use
  std::string sku;                ///< of its own metadata
};

/// In what the machine contradicts the SKU, each as a sentence.
std::vector<std::string> contradictions(const Sku& sku, const FoundMachine& machine);

}  // namespace ddbench::analyzer
