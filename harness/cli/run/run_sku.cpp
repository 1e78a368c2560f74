#include "harness/cli/run/run_sku.h"

#include <fmt/format.h>

#include <cstdlib>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/error.h"
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
  const launch::LauncherOptions& launcher = options.launcher.launcher;
  const bool from_login_node =
      launcher.launcher == launch::Launcher::kSrun && (!launcher.hosts.empty() || std::getenv("SLURM_JOB_ID") == nullptr);
  // The hosts may be others than this one.
  if (launcher.launcher == launch::Launcher::kMpirun || from_login_node) return;
  try {
    warn(experiment::compare_with_machine(run_case, analyzer::SkuCatalogue::load(), host::inspect_machine(), !options.no_metadata));
  } catch (const Error& error) {
    warn({error.message()});
  }
}

}  // namespace ddbench::cli
