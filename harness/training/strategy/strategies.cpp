#include "harness/training/strategy/strategies.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text/number.h"
#include "harness/model/workload.h"
#include "harness/training/optimizer/optimizer.h"
#include "harness/training/optimizer/parameters.h"

namespace ddbench::ddp {
namespace {

const std::vector<StrategyInfo>& registry() {
  static const std::vector<StrategyInfo> all{
      ddp_strategy(),     zero1_strategy(),    zero2_strategy(),            zero3_strategy(),
      horovod_strategy(), mirrored_strategy(), parameter_server_strategy(),
  };
  return all;
}

template <typename Items>
std::string names_of(const Items& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item.name;
  return text;
}

void check_option(const StrategyInfo& info, const std::string& name) {
  const auto known = std::any_of(info.options.begin(), info.options.end(),
                                 [&](const StrategyOption& option) { return option.name == name; });
  if (known) return;
  throw Error(ErrorCode::kBadInput,
              info.options.empty()
                  ? fmt::format("strategy {} has no options; \"{}\" was given", info.name, name)
                  : fmt::format("strategy {} has no option \"{}\"; options: {}", info.name, name,
                                names_of(info.options)));
}

}  // namespace

const StrategyInfo& strategy_info(std::string_view name) {
  for (const StrategyInfo& info : registry()) {
    if (info.name == name) return info;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("strategy \"{}\" is not supported; supported: {}", name, names_of(registry())));
}

void check_strategy(const RunCase& run_case) {
  const StrategyInfo& info = strategy_info(run_case.strategy);
  for (const auto& [name, value] : run_case.strategy_options) check_option(info, name);
  info.check(run_case);
}

std::string strategy_text(const RunCase& run_case, const std::string& option, const std::string& fallback) {
  const auto found = run_case.strategy_options.find(option);
  return found == run_case.strategy_options.end() ? fallback : found->second;
}

double strategy_number(const RunCase& run_case, const std::string& option, double fallback, double least,
                       double most) {
  const auto found = run_case.strategy_options.find(option);
  if (found == run_case.strategy_options.end()) return fallback;
  const std::string& text = found->second;
  const auto value = number_from<double>(text);
  if (value && *value >= least && *value <= most) return *value;
  throw Error(ErrorCode::kBadInput,
              fmt::format("strategy {}: {} is \"{}\", but it must be a number from {} to {}",
                          run_case.strategy, option, text, least, most));
}

StrategyOption overlap_option() {
  return {"overlap", "on", "on: a bucket is reduced as soon as it is complete, beside backward; off: all after backward"};
}

StrategyOption offload_option() {
  return {"offload", "none", "optimizer: its state and the values that it updates are in the host's memory, and the host updates them"};
}

bool overlaps(const RunCase& run_case) {
  const std::string overlap = strategy_text(run_case, "overlap", "on");
  if (overlap == "on" || overlap == "off") return overlap == "on";
  throw Error(ErrorCode::kBadInput, fmt::format("strategy {}: overlap is \"{}\", but it must be on or off",
                                                run_case.strategy, overlap));
}

std::int64_t sum_of(std::span<const std::int64_t> parameter_bytes) {
  std::int64_t sum = 0;
  for (const std::int64_t bytes : parameter_bytes) sum += bytes;
  return sum;
}

std::int64_t state_bytes(const RunCase& run_case, std::int64_t parameter_bytes) {
  return is_offloaded(run_case) ? 0 : optimizer_states(run_case.optimizer) * parameter_bytes;
}

std::int64_t accumulator_bytes(const RunCase& run_case, std::int64_t gradient_bytes) {
  return run_case.accumulate > 1 ? gradient_bytes : 0;
}

StrategyTraffic all_ranks_alike(std::string formula, double sent_bytes) {
  return {std::move(formula), sent_bytes, sent_bytes, sent_bytes};
}

std::vector<StrategyDescription> strategies() {
  std::vector<StrategyDescription> descriptions;
  for (const StrategyInfo& info : registry()) {
    descriptions.push_back({info.name, info.description, info.options});
  }
  return descriptions;
}

}  // namespace ddbench::ddp
