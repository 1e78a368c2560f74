#include "harness/cli/run/run_sku.h"

#include <fmt/format.h>

#include <cstdlib>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/error.h"
#include "harness/cli/options/output.h"
#include "harness/experiment/sku/cloud_metadata.h"
#include "harness/experiment/sku/settle_sku.h"
#include "probes/machine/machine.h"

namespace ddbench::cli {
namespace {

void warn(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) print_error(fmt::format("SKU: {}\n", printable(sentence)));
}

/// Asked once: runs of one command are on one machine, also when its metadata do not answer a second time.
Measured<std::string> metadata_sku(bool asks) {
  if (!asks) return Measured<std::string>::missing("not asked (--no-metadata)");
  static const Measured<std::string> kAnswer = experiment::sku_from_metadata();
  return kAnswer;
}

/// Each a GPU of its own, as far as the options say.
bool ranks_take_gpus(const RunOptions& options) {
  return options.device != "cpu" && !options.launcher.launcher.share_gpus;
}

std::string sku_of_sweep(const store::RunStore& store, const std::string& sweep_id) {
  for (const store::RunRecord& run : store.runs({.sweep_id = sweep_id})) {
    if (!run.run_case.sku.empty()) return run.run_case.sku;
  }
  return {};
}

}  // namespace

void check_sku(const RunOptions& options, RunCase& run_case) {
  if (run_case.sku.empty()) return;
  const auto remarks = experiment::check_sku(run_case, analyzer::SkuCatalogue::load(), ranks_take_gpus(options));
  if (!is_other_started_rank(options.launcher)) warn(remarks);
}

void ask_machine(const RunOptions& options, RunCase& run_case) {
  const launch::LauncherOptions& launcher = options.launcher.launcher;
  const bool from_login_node =
      launcher.launcher == launch::Launcher::kSrun && (!launcher.hosts.empty() || std::getenv("SLURM_JOB_ID") == nullptr);
  // The hosts may be others than this one.
  if (launcher.launcher == launch::Launcher::kMpirun || from_login_node) return;
  try {
    warn(experiment::compare_with_machine(run_case, analyzer::SkuCatalogue::load(), host::inspect_machine(), metadata_sku(!options.no_metadata)));
  } catch (const Error& error) {
    warn({error.message()});
  }
}

void check_skus(const RunOptions& options, const std::vector<experiment::SweepCell>& cells) {
  const auto catalogue = analyzer::SkuCatalogue::load();
  for (const experiment::SweepCell& cell : cells) {
    RunCase asked = cell.run_case;
    experiment::check_sku(asked, catalogue, ranks_take_gpus(options));
  }
}

void settle_sku(RunOptions& options, const store::RunStore& store, const std::string& sweep_id, std::vector<experiment::SweepCell>& cells) {
  std::string& sku = options.run_case.sku;
  const bool is_named = !sku.empty();
  ask_machine(options, options.run_case);
  if (const std::string stored = sku_of_sweep(store, sweep_id); !is_named && !stored.empty() && stored != sku) {
    if (!sku.empty()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} was begun on {}, and this machine is {}: --fresh starts anew, --sku names the SKU of all runs",
                              sweep_id, stored, sku));
    }
    sku = stored;
    ask_machine(options, options.run_case);
  }
  for (experiment::SweepCell& cell : cells) cell.run_case.sku = sku;
  // What nobody named refuses nothing: the machine may do what the catalogue does not know.
  if (is_named) check_skus(options, cells);
}

}  // namespace ddbench::cli
