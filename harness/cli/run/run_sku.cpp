#include "harness/cli/run/run_sku.h"

#include <fmt/format.h>

#include "analyzer/catalogue/sku_catalogue.h"
#include "harness/cli/options/output.h"
#include "harness/experiment/sku/settle_sku.h"
#include "probes/machine/machine.h"

namespace ddbench::cli {
namespace {

void warn(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) print_error(fmt::format("SKU: {}\n", printable(sentence)));
}

}  // namespace

void check_sku(const RunOptions& options, RunCase& run_case) {
  if (run_case.sku.empty()) return;
  const auto remarks = experiment::check_sku(run_case, analyzer::SkuCatalogue::load(), options.device != "cpu");
  if (!is_other_started_rank(options.launcher)) warn(remarks);
}

void ask_machine(const RunOptions& options, RunCase& run_case) {
  const auto launcher = options.launcher.launcher.launcher;
  if (launcher == launch::Launcher::kMpirun) return;  // its hosts may be others than this one
  warn(experiment::compare_with_machine(run_case, analyzer::SkuCatalogue::load(), host::inspect_machine(), !options.no_metadata));
}

}  // namespace ddbench::cli
