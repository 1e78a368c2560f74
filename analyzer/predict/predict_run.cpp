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
  bool is_modelled = false;
  std::string missing;
};

Transfers transfers_on(const StepRecording& recording, const CollectiveCosts& costs, const ClusterShape& shape,
                       const PredictOptions& options) {
  Transfers result;
  result.is_modelled = shape != recording.shape || options.other_network || options.what_if.changes_collectives();
  if (!result.is_modelled) return result;
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
double extra_work_ns(const std::vector<double>& own_ns, const ReplaySchedule& schedule, const StepBlocks& blocks) {
  double slowest = 0;
  for (const std::uint32_t step : schedule.recorded) slowest += own_ns[step];
  double usual = 0;
  double steps = 0;
  for (const auto& [first, last] : blocks) {
    for (std::size_t step = first; step < last; ++step, ++steps) usual += own_ns[step];
  }
  return std::max(0.0, slowest / static_cast<double>(schedule.recorded.size()) - usual / steps);
}

StepBlocks drawn(const StepBlocks& blocks, std::mt19937_64& random) {
  StepBlocks result;
  for (std::size_t i = 0; i < blocks.size(); ++i) result.push_back(blocks[random() % blocks.size()]);
  return result;
}

Estimate with_interval(double value, double log_error) {
  return {value, {value * std::exp(-kNormal95 * log_error), value * std::exp(kNormal95 * log_error), 0.95,
                  "replay: bootstrap of blocks of steps, costs, model"}};
}

/// By function and bytes, over all steps.
std::map<std::string, std::map<double, std::vector<double>>> recorded_transfers(const StepRecording& recording) {
  std::map<std::string, std::map<double, std::vector<double>>> times;
  for (const RecordedStep& step : recording.steps) {
    for (std::size_t i = 0; i < step.transfer_ns.size(); ++i) {
      const StepCollective& collective = recording.collectives[i];
      times[collective.function][collective.bytes].push_back(step.transfer_ns[i]);
    }
  }
  return times;
}

/// The recording with what costs know of its transfers.
double modelled_over_recorded(const StepRecording& recording) {
  auto times = recorded_transfers(recording);
  std::vector<double> mean_ns;
  for (const StepCollective& collective : recording.collectives)
    mean_ns.push_back(run_moments(times[collective.function][collective.bytes]).mean);
  return replay_over_recorded(recording, mean_ns);
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

/// Why steps on a shape cannot be replayed, whatever collectives cost; empty where they can.
std::string why_not_predicted(const StepRecording& recording, const ClusterShape& shape, const PredictOptions& options) {
  if (shape.gpus_per_node > kMostRanks)
    return fmt::format(
        "a node of {} ranks has more than the {:.0f} that are replayed one by one: more of them are predicted as several nodes",
        shape.gpus_per_node, kMostRanks);
  if (shape.gpus() > 1 && recording.collectives.empty())
    return "the recorded steps have no collectives that all recorded ranks share, so that what ranks would send each other is not "
           "known: record a run of two ranks or more";
  const bool as_recorded =
      !options.other_network && shape == recording.shape && options.what_if.compute_speed == 1 && options.what_if.batch_factor == 1;
  if (recording.strategy == "zero3" && !as_recorded)
    return "a step of zero3 shows where a layer waited for its parameters, not where it would wait at another speed or size: "
           "measure a run there";
  return {};
}

struct Replays {
  ReplayResult mean;
  std::vector<double> samples_ns;  ///< step time of each replay of a sample of the blocks
  double share_of_transfers = 0;   ///< of the step time, that follows them
};

/// Replays the steps on a shape. On their own all ranks do the step that they did together; on others each node draws its own.
Replays replays_on(const StepRecording& steps, const ClusterShape& shape, const std::vector<double>& transfer_ns,
                   const PredictOptions& options) {
  const bool in_order = shape == steps.shape;
  const ClusterShape replayed =
      in_order ? ClusterShape{1, static_cast<int>(steps.steps.front().ranks.size())} : replayed_shape(shape, most_ranks(steps, options));
  const double each = in_order ? 1 : static_cast<double>(shape.nodes) / replayed.nodes;
  const std::size_t many = steps_of_replicate(steps, replayed, options);
  const StepBlocks blocks = blocks_to_draw(steps);
  const std::vector<double> own_ns = own_work_ns(steps);
  std::mt19937_64 random(options.seed);
  Replays result;
  if (in_order) result.mean = replay_in_order(steps, transfer_ns);
  const auto means = static_cast<double>((options.replicates + 1) / 2);
  for (std::size_t i = 0; i < options.replicates; ++i) {
    // Without some of the blocks the slowest node is not as slow: the mean has all of them, the spread is that of samples.
    const bool is_sample = in_order || i % 2 == 1;
    StepBlocks own = is_sample ? drawn(blocks, random) : blocks;
    if (each > 1) own = steps_by_work(steps, own);
    const ReplaySchedule schedule = draw_schedule(own, static_cast<std::size_t>(replayed.nodes), many, random(), each);
    const ReplayResult one = replay(steps, replayed, schedule, transfer_ns);
    if (i == 0 && !transfer_ns.empty())
      result.share_of_transfers = share_of_transfers(steps, replayed, schedule, transfer_ns, one.step_ns);
    if (is_sample) {
      result.samples_ns.push_back(one.step_ns);
      continue;
    }
    result.mean.step_ns += one.step_ns / means;
    result.mean.waited_ns += (one.waited_ns + (each > 1 ? extra_work_ns(own_ns, schedule, own) : 0)) / means;
    result.mean.lane_ns += one.lane_ns / means;
    result.mean.arrival_ns += one.arrival_ns / means;
  }
  return result;
}

}  // namespace

void add_costs(const StepRecording& recording, CollectiveCosts& costs) {
  for (const auto& [function, sizes] : recorded_transfers(recording)) {
    CostCurve curve{recording.shape, {}, 0};
    for (const auto& [bytes, values] : sizes) {
      if (bytes <= 0) continue;
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
  using Missing = Measured<ReplayPrediction>;
  if (const std::string why = why_not_predicted(recording, shape, options); !why.empty()) return Missing::missing(why);
  const std::string& strategy = options.what_if.strategy.empty() ? recording.strategy : options.what_if.strategy;
  const StepRecording changed_steps =
      changed(with_strategy(recording, strategy, static_cast<int>(shape.gpus())), options.what_if);
  const Transfers transfers = transfers_on(changed_steps, costs, shape, options);
  if (!transfers.missing.empty()) return Missing::missing(transfers.missing);
  if (const double fit = most_ranks(changed_steps, options); shape.gpus_per_node > fit)
    return Missing::missing(fmt::format(
        "a node has {} ranks; at most {:.0f} ranks can be replayed, because a recorded step has many events", shape.gpus_per_node, fit));
  ReplayPrediction result;
  result.shape = shape;
  result.is_modelled = transfers.is_modelled;
  result.replay_over_recorded = !transfers.is_modelled   ? replay_over_recorded(recording)
                                : options.modelled_ratio ? *options.modelled_ratio
                                                         : modelled_over_recorded(recording);
  Replays replays = replays_on(changed_steps, shape, transfers.ns, options);
  const ReplayResult& mean = replays.mean;
  result.waited_ns = mean.waited_ns;
  result.lane_ns = mean.lane_ns;
  result.arrival_ns = mean.arrival_ns;
  result.cost_error = replays.share_of_transfers * transfers.relative_error;
  result.replicates_ns = std::move(replays.samples_ns);
  const RunMoments moments = run_moments(result.replicates_ns);
  // Passes do not take time in proportion to the batch for ever, as they are replayed.
  const double doublings = std::abs(std::log2(shape.gpus() / recording.shape.gpus())) +
                           2 * std::abs(std::log2(options.what_if.batch_factor));
  const double log_error =
      std::sqrt(moments.variance / (mean.step_ns * mean.step_ns) + std::pow(result.cost_error, 2) +
                std::pow(std::log(result.replay_over_recorded), 2) + std::pow(options.model_error, 2) +
                std::pow(kErrorPerDoubling * doublings, 2));
  result.step_ns = with_interval(mean.step_ns, log_error);
  const double samples = changed_steps.samples_per_rank * shape.gpus();
  result.samples_per_s = with_interval(samples * 1e9 / mean.step_ns, log_error);
  return result;
}

}  // namespace ddbench::analyzer
