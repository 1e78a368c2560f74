#include "harness/training/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/error.h"
#include "core/text/quantity.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/data/loader.h"
#include "harness/training/optimizer/optimizer.h"
#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/strategies.h"
#include "harness/training/train.h"

namespace ddbench::ddp {
namespace {

using device::MemoryUse;

/// Ranks that may differ: the first ones serve parameters or own the fuller shards.
constexpr int kMostDistinctRanks = 256;

/// Where the case cannot have the value, "no memory": it does not fit.
bool fits(RunCase run_case, std::int64_t bytes) {
  try {
    return largest_footprint(run_case).total() <= bytes;
  } catch (const Error&) {
    return false;
  }
}

void add_way(const RunCase& changed, const std::string& words, std::int64_t bytes, std::vector<std::string>& ways) {
  if (!fits(changed, bytes)) return;
  ways.push_back(
      fmt::format("{} ({})", words, quantity(static_cast<double>(largest_footprint(changed).total()), "B")));
}

void add_accumulation(const RunCase& run_case, std::int64_t bytes, std::vector<std::string>& ways) {
  for (std::int64_t parts = 2L * run_case.accumulate; parts <= run_case.batch_per_gpu; parts *= 2) {
    RunCase changed = run_case;
    changed.accumulate = static_cast<int>(parts);
    if (run_case.batch_per_gpu % parts != 0 || !fits(changed, bytes)) continue;
    return add_way(changed, fmt::format("--accumulate {}", parts), bytes, ways);
  }
}

}  // namespace

device::MemoryByUse footprint(const RunCase& run_case, int rank) {
  check_supported(run_case);
  const auto workload = workload::make_workload(run_case);
  const device::DataType type = workload::activation_type(run_case.precision);
  const StrategyInfo& strategy = strategy_info(run_case.strategy);
  const workload::ParameterUses uses = workload->parameter_uses();
  device::MemoryByUse memory = strategy.memory(run_case, {bytes_of(workload->parameters()), uses}, rank);
  const std::int64_t copies = workload->weight_copy_bytes(type);
  memory[MemoryUse::kParameters] += strategy.shards_parameters ? workload->weight_scratch_bytes(type) : copies;
  memory[MemoryUse::kActivations] =
      workload->activation_bytes(run_case.batch_per_gpu / run_case.accumulate, type) - copies;
  memory[MemoryUse::kBatches] = Loader::device_bytes(run_case, workload->sample());
  return memory;
}

device::MemoryByUse largest_footprint(const RunCase& run_case) {
  device::MemoryByUse largest = footprint(run_case, 0);
  const bool alike = run_case.strategy != "ps";
  for (int rank = 1; !alike && rank < std::min(run_case.world_size(), kMostDistinctRanks); ++rank) {
    const device::MemoryByUse other = footprint(run_case, rank);
    if (other.total() > largest.total()) largest = other;
  }
  return largest;
}

std::int64_t offloaded_footprint(const RunCase& run_case) {
  if (!is_offloaded(run_case)) return 0;
  RunCase on_device = run_case;
  on_device.strategy_options.erase("offload");
  return offloaded_bytes(run_case, largest_footprint(on_device)[MemoryUse::kOptimizer] / optimizer_states(run_case.optimizer));
}

std::int64_t largest_batch(const RunCase& run_case, std::int64_t bytes) {
  const auto fits_with = [&](std::int64_t micro_batch) {
    RunCase changed = run_case;
    changed.batch_per_gpu = micro_batch * run_case.accumulate;
    return fits(changed, bytes);
  };
  std::int64_t fitting = 0;
  std::int64_t too_large = 1;
  const std::int64_t bound = kLargestMicroBatch / run_case.accumulate + 1;
  while (too_large < bound && fits_with(too_large)) {
    fitting = too_large;
    too_large = std::min(too_large * 2, bound);
  }
  while (too_large - fitting > 1) {
    const std::int64_t middle = fitting + (too_large - fitting) / 2;
    (fits_with(middle) ? fitting : too_large) = middle;
  }
  return fitting * run_case.accumulate;
}

std::vector<std::string> ways_to_fit(const RunCase& run_case, std::int64_t bytes) {
  std::vector<std::string> ways;
  add_accumulation(run_case, bytes, ways);
  RunCase recomputing = run_case;
  std::get<ReferenceWorkload>(recomputing.work).options["recompute"] = "blocks";
  if (recomputing.work != run_case.work)
    add_way(recomputing, "-O recompute=blocks", bytes, ways);
  if (run_case.on_gpus() && !is_offloaded(run_case)) {
    RunCase changed = run_case;
    changed.strategy_options["offload"] = "optimizer";
    add_way(changed, "-S offload=optimizer", bytes, ways);
  }
  if (run_case.world_size() > 1) {
    for (const char* strategy : {"zero1", "zero2", "zero3"}) {
      RunCase changed = run_case;
      changed.strategy = strategy;
      changed.strategy_options.clear();
      if (run_case.strategy != strategy) add_way(changed, fmt::format("--strategy {}", strategy), bytes, ways);
    }
  }
  if (run_case.precision == "fp32" || run_case.precision == "tf32") {
    RunCase changed = run_case;
    changed.precision = "bf16";
    add_way(changed, "--precision bf16", bytes, ways);
  }
  RunCase changed = run_case;
  changed.batch_per_gpu = largest_batch(run_case, bytes);
  if (changed.batch_per_gpu > 0 && changed.batch_per_gpu < run_case.batch_per_gpu)
    add_way(changed, fmt::format("--batch-per-gpu {}", changed.batch_per_gpu), bytes, ways);
  return ways;
}

std::vector<std::string> ways_to_fit_process(const RunCase& run_case, std::int64_t bytes) {
  if (!run_case.on_cpu()) return {};
  return ways_to_fit(run_case, bytes - (memory_per_rank_bytes(run_case) - largest_footprint(run_case).total()));
}

}  // namespace ddbench::ddp
