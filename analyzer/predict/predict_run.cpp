#include "analyzer/predict/predict_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "analyzer/collectives/micro_table.h"
#include "analyzer/predict/change_strategy.h"
#include "analyzer/predict/recording.h"
#include "analyzer/predict/replay.h"
#include "analyzer/statistics/moments.h"
#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

constexpr double kNormal95 = 1.959964;
constexpr double kErrorPerDoubling = 0.01;
constexpr std::size_t kStepsOfReplicate = 64;
constexpr double kMostRanks = 65'536;  // some seconds and 100 MB
constexpr double kFewestSteps = 4;  // of a replicate
constexpr double kRanksBeyond = 16'384;  // replayed in place of more than these

using Blocks = std::vector<std::pair<std::size_t, std::size_t>>;

/// Standard deviation of the mean over the mean.
double error_of_mean(const std::vector<double>& values) {
  const RunMoments moments = run_moments(values);
  if (moments.count < 2 || moments.mean <= 0) return 0;
  return std::sqrt(moments.variance / moments.count) / moments.mean;
}

/// Costs of the recording's collectives on a shape; empty where the recorded ones hold.
struct Transfers {
  std::vector<double> ns;
  double relative_error = 0;
  std::string missing;
};

Transfers transfers_on(const StepRecording& recording, const CollectiveCosts& costs, const ClusterShape& shape,
                       const PredictOptions& options) {
  Transfers result;
  if (shape == recording.shape && !options.other_network && !options.what_if.changes_collectives()) return result;
  double sum = 0;
  double error = 0;
  for (const StepCollective& collective : recording.collectives) {
    const auto cost = costs.cost(collective.function, collective.bytes, shape);
    if (!cost) {
      result.missing = cost.reason();
      return result;
    }
    result.ns.push_back(cost->ns);
    sum += cost->ns;
    error += cost->ns * cost->relative_error;
  }
  if (sum > 0) result.relative_error = error / sum;
  return result;
}

/// Of a rank in a step, in all replicates.
double events_of(const StepRecording& recording, const PredictOptions& options) {
  std::size_t events = recording.collectives.size() + 1;
  for (const RankStep& rank : recording.steps.front().ranks) events = std::max(events, rank.events.size());
  return static_cast<double>(events) * static_cast<double>(options.replicates);
}

/// Number of steps with which all replicates together stay within the bound.
std::size_t steps_of_replicate(const StepRecording& recording, const ClusterShape& shape, const PredictOptions& options) {
  const double steps = options.most_events / (shape.gpus() * events_of(recording, options));
  return static_cast<std::size_t>(std::clamp(steps, kFewestSteps, static_cast<double>(kStepsOfReplicate)));
}

/// How many ranks the fewest steps can be replayed with.
double most_ranks(const StepRecording& recording, const PredictOptions& options) {
  return std::min(kMostRanks, options.most_events_of_fewest / (kFewestSteps * events_of(recording, options)));
}

/// As many nodes as are replayed.
ClusterShape replayed_shape(const ClusterShape& shape, double fit) {
  if (shape.gpus() <= fit) return shape;
  return {std::max(1, static_cast<int>(std::min(kRanksBeyond, fit) / shape.gpus_per_node)), shape.gpus_per_node};
}

/// Own work of a rank in each recorded step, mean over ranks.
std::vector<double> own_work_ns(const StepRecording& recording) {
  std::vector<double> own_ns;
  for (const RecordedStep& step : recording.steps) {
    double sum = 0;
    for (const RankStep& rank : step.ranks) {
      for (const StepEvent& event : rank.events) sum += event.ns;
    }
    own_ns.push_back(sum / static_cast<double>(step.ranks.size()));
  }
  return own_ns;
}

/// Nodes that stand for several took the slowest of their steps: how much longer their ranks worked than ranks do. So much
/// longer the ranks that are not replayed wait.
double extra_work_ns(const std::vector<double>& own_ns, const ReplaySchedule& schedule, const Blocks& blocks) {
  double slowest = 0;
  for (const std::uint32_t step : schedule.recorded) slowest += own_ns[step];
  double usual = 0;
  double steps = 0;
  for (const auto& [first, last] : blocks) {
    for (std::size_t step = first; step < last; ++step, ++steps) usual += own_ns[step];
  }
  return std::max(0.0, slowest / static_cast<double>(schedule.recorded.size()) - usual / steps);
}

Blocks drawn(const Blocks& blocks, std::mt19937_64& random) {
  Blocks result;
  for (std::size_t i = 0; i < blocks.size(); ++i) result.push_back(blocks[random() % blocks.size()]);
  return result;
}

Estimate with_interval(double value, double log_error) {
  return {value, {value * std::exp(-kNormal95 * log_error), value * std::exp(kNormal95 * log_error), 0.95,
                  "replay: bootstrap of blocks of steps, costs, model"}};
}

/// Replays two slightly different networks: how much of the step follows the transfers.
double share_of_transfers(const StepRecording& recording, const ClusterShape& shape, const ReplaySchedule& schedule,
                          const std::vector<double>& transfer_ns, double step_ns) {
  constexpr double kLonger = 1.05;
  std::vector<double> longer = transfer_ns;
  for (double& ns : longer) ns *= kLonger;
  const double other = replay(recording, shape, schedule, longer).step_ns;
  return std::max(0.0, (other / step_ns - 1) / (kLonger - 1));
}

}  // namespace

void add_costs(const StepRecording& recording, CollectiveCosts& costs) {
  std::map<std::string, std::map<double, std::vector<double>>> times;
  for (const RecordedStep& step : recording.steps) {
    for (std::size_t i = 0; i < step.transfer_ns.size(); ++i) {
      const StepCollective& collective = recording.collectives[i];
      if (collective.bytes > 0) times[collective.function][collective.bytes].push_back(step.transfer_ns[i]);
    }
  }
  for (const auto& [function, sizes] : times) {
    CostCurve curve{recording.shape, {}, 0};
    for (const auto& [bytes, values] : sizes) {
      curve.time_ns[bytes] = run_moments(values).mean;
      curve.relative_error = std::max(curve.relative_error, error_of_mean(values));
    }
    costs.add(function, std::move(curve));
  }
}

void add_costs(const RunCase& run_case, const std::vector<store::CollectiveRecord>& measured, CollectiveCosts& costs) {
  CostCurve curve{{run_case.nodes, run_case.gpus_per_node}, {}, 0};
  std::string function;
  for (const store::CollectiveRecord& row : measured) {
    function = row.function;
    if (row.bytes > 0 && row.transfer_ns > 0) curve.time_ns[static_cast<double>(row.bytes)] = static_cast<double>(row.transfer_ns);
  }
  costs.add(function, std::move(curve));
}

void add_costs(const store::RunStore& store, const store::RunRecord& run, CollectiveCosts& costs) {
  if (std::holds_alternative<NcclTests>(run.run_case.work)) return add_costs(run.run_case, store.collectives(run.id), costs);
  if (!is_micro(run.run_case)) {
    const Measured<StepRecording> recording = recording_of(store, run);
    if (!recording)
      throw Error(ErrorCode::kBadInput, fmt::format("the cost of collectives cannot be derived from run {}: {}", run.id, recording.reason()));
    add_costs(*recording, costs);
    return;
  }
  const MicroTable table = micro_table(store, run);
  std::map<std::string, CostCurve> curves;
  for (const MicroRow& row : table.rows) {
    const MicroTiming& timing = row.usual();
    if (!is_collective(row.operation) || row.bytes <= 0 || timing.time_ns <= 0) continue;
    CostCurve& curve = curves[std::string(to_string(row.operation))];
    curve.shape = {run.run_case.nodes, run.run_case.gpus_per_node};
    curve.time_ns[static_cast<double>(row.bytes)] = timing.time_ns;
    curve.relative_error = std::max(curve.relative_error, error_of_mean(timing.batches_ns));
  }
  if (curves.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("run {} measured no collective between ranks", run.id));
  for (auto& [function, curve] : curves) costs.add(function, std::move(curve));
}

Measured<ReplayPrediction> predict_step(const StepRecording& recording, const CollectiveCosts& costs,
                                        const ClusterShape& shape, const PredictOptions& options) {
  if (shape.gpus_per_node > kMostRanks)
    return Measured<ReplayPrediction>::missing(fmt::format(
        "a node of {} ranks has more than the {:.0f} that are replayed one by one: more of them are predicted as several nodes",
        shape.gpus_per_node, kMostRanks));
  if (shape.gpus() > 1 && recording.collectives.empty())
    return Measured<ReplayPrediction>::missing(
        "the recorded steps have no collectives that all recorded ranks share, so that what ranks would send each other is not "
        "known: record a run of two ranks or more");
  const WhatIf& what_if = options.what_if;
  const bool as_recorded = !options.other_network && shape.nodes == recording.shape.nodes &&
                           shape.gpus_per_node == recording.shape.gpus_per_node && what_if.compute_speed == 1 &&
                           what_if.batch_factor == 1;
  if (recording.strategy == "zero3" && !as_recorded)
    return Measured<ReplayPrediction>::missing(
        "a step of zero3 shows where a layer waited for its parameters, not where it would wait at another speed or size: "
        "measure a run there");
  const std::string& strategy = options.what_if.strategy.empty() ? recording.strategy : options.what_if.strategy;
  const StepRecording changed_steps =
      changed(with_strategy(recording, strategy, static_cast<int>(shape.gpus())), options.what_if);
  const Transfers transfers = transfers_on(changed_steps, costs, shape, options);
  if (!transfers.missing.empty()) return Measured<ReplayPrediction>::missing(transfers.missing);
  const double fit = most_ranks(changed_steps, options);
  if (shape.gpus_per_node > fit)
    return Measured<ReplayPrediction>::missing(fmt::format(
        "a node has {} ranks; at most {:.0f} ranks can be replayed, because a recorded step has many events", shape.gpus_per_node, fit));
  const Blocks blocks = blocks_of(changed_steps);
  const ClusterShape replayed = replayed_shape(shape, fit);
  const double each = static_cast<double>(shape.nodes) / replayed.nodes;
  const std::size_t steps = steps_of_replicate(changed_steps, replayed, options);
  const std::vector<double> own_ns = own_work_ns(changed_steps);
  std::mt19937_64 random(options.seed);
  ReplayPrediction result;
  result.shape = shape;
  double waited = 0;
  double share = 1;
  for (std::size_t i = 0; i < options.replicates; ++i) {
    Blocks own = drawn(blocks, random);
    if (each > 1) sort_by_work(changed_steps, own);
    const ReplaySchedule schedule =
        draw_schedule(own, static_cast<std::size_t>(replayed.nodes), steps, random(), each);
    const ReplayResult one = replay(changed_steps, replayed, schedule, transfers.ns);
    result.replicates_ns.push_back(one.step_ns);
    waited += one.waited_ns + (each > 1 ? extra_work_ns(own_ns, schedule, own) : 0);
    result.lane_ns += one.lane_ns / static_cast<double>(options.replicates);
    result.arrival_ns += one.arrival_ns / static_cast<double>(options.replicates);
    if (i == 0 && !transfers.ns.empty())
      share = share_of_transfers(changed_steps, replayed, schedule, transfers.ns, one.step_ns);
  }
  result.cost_error = share * transfers.relative_error;
  result.waited_ns = waited / static_cast<double>(options.replicates);
  const RunMoments moments = run_moments(result.replicates_ns);
  // Passes do not take time in proportion to the batch for ever, as they are replayed.
  const double doublings = std::abs(std::log2(shape.gpus() / recording.shape.gpus())) +
                           2 * std::abs(std::log2(options.what_if.batch_factor));
  const double own = std::log(replay_over_recorded(recording));
  const double log_error =
      std::sqrt(moments.variance / (moments.mean * moments.mean) + std::pow(result.cost_error, 2) +
                own * own + std::pow(options.model_error, 2) + std::pow(kErrorPerDoubling * doublings, 2));
  result.step_ns = with_interval(moments.mean, log_error);
  const double samples = changed_steps.samples_per_rank * shape.gpus();
  result.samples_per_s = with_interval(samples * 1e9 / moments.mean, log_error);
  return result;
}

}  // namespace ddbench::analyzer
