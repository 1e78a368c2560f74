#include "harness/experiment/run/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::experiment {

int usable_gpus(const host::Machine& machine) {
  const int here = static_cast<int>(machine.gpus.size());
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return here;
  const std::string_view list(visible);
  const auto named = list.empty() ? 0 : 1 + std::count(list.begin(), list.end(), ',');
  return static_cast<int>(std::min<std::ptrdiff_t>(here, named));
}

bool shares_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share) {
  const bool on_gpus = run_case.device == "cuda" || (is_program(run_case) && may_share);
  const int gpus = usable_gpus(machine);
  return on_gpus && gpus > 0 && run_case.world_size() > gpus;
}

void check_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share) {
  if (may_share || !shares_gpus(run_case, machine, false)) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{} ranks ({} x {}) need as many GPUs, and this machine has {}. Start them where the GPUs "
                  "are (--hosts, or inside a Slurm allocation), take --device cpu, or let ranks share "
                  "GPUs with --share-gpus: the run is then marked oversubscribed",
                  run_case.world_size(), run_case.nodes, run_case.gpus_per_node, usable_gpus(machine)));
}

}  // namespace ddbench::experiment
