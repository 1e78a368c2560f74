#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/cost/cost.h"
#include "analyzer/store/rows/run_store.h"

namespace CLI {
class App;
}

namespace ddbench::cli {

/// What `compare --by` and `scaling` take to state hours and USD.
struct CostCommandOptions {
  std::optional<double> epoch_samples;
  std::optional<double> epochs;
  std::optional<double> samples;
  std::string deadline;
  std::optional<double> checkpoint_s;
  double restart_s = analyzer::CostOptions{}.restart_s;
  double node_mtbf_h = 0;
  std::vector<std::string> prices;
  std::string skus;
};

void add_cost_options(CLI::App& command, CostCommandOptions& options, const char* group);

/// The time to write a checkpoint is the given one, else what the runs measured, else assumed. Throws Error{kBadInput} for options that
/// need another one, and for a deadline that is none.
analyzer::CostOptions cost_options(const CostCommandOptions& options, const store::RunStore& store, std::span<const store::RunRecord> runs);

/// Requested, or implied by the runs themselves.
bool wants_costs(const CostCommandOptions& options, std::span<const store::RunRecord> runs);

/// With the prices of the command line. Throws Error{kBadInput} for a price of a SKU that none of the runs has.
analyzer::SkuCatalogue priced_catalogue(const CostCommandOptions& options, const store::RunStore& store,
                                        std::span<const store::RunRecord> runs);

}  // namespace ddbench::cli
