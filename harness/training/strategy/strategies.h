#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/training/strategy/strategy.h"
#include "harness/training/strategy/strategy_traffic.h"

namespace ddbench::ddp {

struct ParameterSizes {
  std::vector<std::int64_t> bytes;  ///< in the order of registration
  const workload::ParameterUses& uses;
};

/// A strategy as it is registered; one function `<name>_strategy()` in its file.
struct StrategyInfo {
  std::string name;
  std::string description;
  std::vector<StrategyOption> options;
  /// Throws Error{kBadInput} for option values, or other fields of the case, that do not go together. The
  /// options are known.
  void (*check)(const RunCase& run_case);
  std::unique_ptr<Strategy> (*make)(const StrategySite& site);
  /// `parameter_bytes` in the order of registration.
  StrategyTraffic (*traffic)(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes);
  /// What the strategy and the optimizer allocate on a rank's device: parameters, gradients, the optimizer's state and
  /// buckets, to the byte; without what the model keeps of them in 16 bits.
  device::MemoryByUse (*memory)(const RunCase& run_case, const ParameterSizes& parameters, int rank);
  /// No rank keeps all values of parameters: Strategy::source().
  bool shards_parameters = false;
};

StrategyInfo ddp_strategy();
StrategyInfo zero1_strategy();
StrategyInfo zero2_strategy();
StrategyInfo zero3_strategy();
StrategyInfo horovod_strategy();
StrategyInfo mirrored_strategy();
StrategyInfo parameter_server_strategy();

/// Throws Error{kBadInput} for an unknown strategy, listing those that there are.
const StrategyInfo& strategy_info(std::string_view name);

/// Throws Error{kBadInput} for an unknown strategy or option, and for what its check refuses.
void check_strategy(const RunCase& run_case);

/// The value of a strategy's option, or `fallback` without one. Throws Error{kBadInput} that names the option
/// when it is no number from `least` to `most`.
double strategy_number(const RunCase& run_case, const std::string& option, double fallback, double least,
                       double most);
std::string strategy_text(const RunCase& run_case, const std::string& option, const std::string& fallback);

/// The option "overlap" of strategies that have it: whether collectives run beside backward. Throws Error{kBadInput} for
/// what is neither "on" nor "off".
StrategyOption overlap_option();
bool overlaps(const RunCase& run_case);
/// The option "offload" of strategies that have it (is_offloaded).
StrategyOption offload_option();

/// The traffic of a strategy in which every rank sends, and receives, as much.
StrategyTraffic all_ranks_alike(std::string formula, double sent_bytes);
std::int64_t sum_of(std::span<const std::int64_t> parameter_bytes);
/// The device's memory for an optimizer's state, for parameters of this size in bytes.
std::int64_t state_bytes(const RunCase& run_case, std::int64_t parameter_bytes);
/// The memory that accumulation over micro-batches needs beside gradients of this size in bytes.
std::int64_t accumulator_bytes(const RunCase& run_case, std::int64_t gradient_bytes);

}  // namespace ddbench::ddp
