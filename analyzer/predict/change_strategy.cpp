#include "analyzer/predict/change_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/predict/rebucket.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr double kOnePack = 1e18;

/// What a recording of `from` lacks of a step of `to`.
std::string why_not(const std::string& from, const std::string& to) {
  const char* lacks = "the run's collectives are those of";
  if (from == "mirrored") lacks = "a step that reduces all gradients together does not show when each was ready, that of";
  if (to == "zero3") lacks = "when layers would wait for their parameters does not follow from the steps of";
  if (to == "ps") lacks = "the time of parameter servers does not follow from the collectives of";
  if (to == "horovod") lacks = "what is fused in a cycle, and the time to agree on it, do not follow from the steps of";
  return fmt::format("--strategy {}: {} {}; record a run of {} to predict it", to, lacks, from, to);
}

/// Of these each rank updates its share.
bool shards(const std::string& strategy) {
  return strategy == "zero1" || strategy == "zero2" || strategy == "zero3";
}

void scale_optimizer(StepRecording& recording, double factor) {
  if (factor == 1) return;
  for (RecordedStep& step : recording.steps) {
    for (RankStep& rank : step.ranks) {
      for (StepEvent& event : rank.events) {
        if (event.action != StepAction::kWork || event.work != WorkKind::kOptimizer) continue;
        event.ns *= factor;
        event.fixed_ns *= factor;  // of fewer parameters
      }
    }
  }
}

/// Collectives that are no all_gather of parameters, and which they were.
std::vector<std::optional<std::uint32_t>> kept_collectives(const StepRecording& from, StepRecording& to) {
  std::vector<std::optional<std::uint32_t>> kept;
  to.collectives.clear();
  for (const StepCollective& collective : from.collectives) {
    if (collective.function == "all_gather" && collective.bucket >= 0) {
      kept.emplace_back();
      continue;
    }
    kept.emplace_back(static_cast<std::uint32_t>(to.collectives.size()));
    to.collectives.push_back(collective);
  }
  return kept;
}

/// Without the events of removed collectives; the remaining ones get their new numbers.
void renumber(RankStep& rank, const std::vector<std::optional<std::uint32_t>>& kept, std::size_t collectives) {
  std::erase_if(rank.events, [&](const StepEvent& event) {
    return event.action != StepAction::kWork && !kept[event.collective];
  });
  for (StepEvent& event : rank.events) {
    if (event.action != StepAction::kWork) event.collective = *kept[event.collective];
  }
  std::vector<double> delays(collectives, 0);
  std::vector<double> shares(collectives, 1);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    delays[*kept[i]] = rank.start_delay_ns[i];
    shares[*kept[i]] = rank.end_share[i];
  }
  rank.start_delay_ns = std::move(delays);
  rank.end_share = std::move(shares);
}

void gather_after(StepRecording& recording) {
  const auto first = static_cast<std::uint32_t>(recording.collectives.size());
  const std::vector<StepCollective> reduced = recording.collectives;
  for (const StepCollective& collective : reduced) {
    if (reduces_gradients(collective)) recording.collectives.push_back({"all_gather", collective.bytes, collective.bucket});
  }
  const auto end = static_cast<std::uint32_t>(recording.collectives.size());
  for (RecordedStep& step : recording.steps) {
    for (RankStep& rank : step.ranks) {
      for (std::uint32_t c = first; c < end; ++c) rank.events.push_back({StepAction::kIssue, WorkKind::kHost, c, 0});
      for (std::uint32_t c = first; c < end; ++c) rank.events.push_back({StepAction::kWait, WorkKind::kHost, c, 0});
      rank.start_delay_ns.resize(end, 0);
      rank.end_share.resize(end, 1);
    }
  }
}

}  // namespace

bool can_change_strategy(const std::string& from, const std::string& to) {
  const auto known = [](const std::string& strategy) { return strategy == "ddp" || strategy == "zero1" || strategy == "zero2"; };
  return from == to || (known(from) && (known(to) || to == "mirrored"));
}

StepRecording with_strategy(const StepRecording& recording, const std::string& strategy, int ranks) {
  const std::string& from = recording.strategy;
  if (!can_change_strategy(from, strategy))
    throw Error(ErrorCode::kBadInput, why_not(from, strategy));
  if (strategy == "mirrored" && from != strategy) {
    StepRecording packed = rebucketed(with_strategy(recording, "ddp", ranks), kOnePack, kOnePack);
    packed.strategy = strategy;
    return packed;
  }
  StepRecording result = recording;
  result.strategy = strategy;
  const double was = shards(from) ? 1.0 / recording.shape.gpus() : 1;
  scale_optimizer(result, (shards(strategy) ? 1.0 / ranks : 1) / was);
  if (shards(from) == shards(strategy)) return result;
  if (std::none_of(recording.collectives.begin(), recording.collectives.end(), reduces_gradients))
    throw Error(ErrorCode::kBadInput, fmt::format("--strategy {}: the recorded steps have no gradient buckets", strategy));
  const auto kept = kept_collectives(recording, result);
  for (StepCollective& collective : result.collectives) {
    if (reduces_gradients(collective)) collective.function = shards(strategy) ? "reduce_scatter" : "all_reduce";
  }
  for (RecordedStep& step : result.steps) {
    step.transfer_ns.clear();
    for (RankStep& rank : step.ranks) renumber(rank, kept, result.collectives.size());
  }
  if (shards(strategy)) gather_after(result);
  return result;
}

}  // namespace ddbench::analyzer
