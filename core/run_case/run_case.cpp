#include "core/run_case/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/span_limits.h"
#include "core/text/number.h"

namespace ddbench {
namespace {

template <typename T>
void require(bool allowed, std::string_view field, const T& value, std::string_view rule) {
  if (!allowed) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is {}, but it must be {}", field, value, rule), 0,
                std::string(field));
  }
}

constexpr std::int64_t kMostSamples = std::int64_t{1} << 40;
constexpr double kMostSeconds = 1e6;
constexpr int kMostLoaders = 1024;
constexpr std::int64_t kMostDelayNs = 60'000'000'000;
constexpr std::int64_t kMostBucketBytes = std::int64_t{1} << 40;

/// Texts of an enumeration, by value; and what they are, for people.
template <typename Enum>
struct Choices;
template <>
struct Choices<ScalingMode> {
  static constexpr std::array<std::string_view, 2> kTexts{"weak", "strong"};
  static constexpr const char* kAllowed = "weak or strong";
};
template <>
struct Choices<LearningRateRule> {
  static constexpr std::array<std::string_view, 3> kTexts{"none", "linear", "sqrt"};
  static constexpr const char* kAllowed = "none, linear or sqrt";
};
template <>
struct Choices<CudaGraphs> {
  static constexpr std::array<std::string_view, 2> kTexts{"auto", "off"};
  static constexpr const char* kAllowed = "auto or off";
};
template <>
struct Choices<AfterWindow> {
  static constexpr std::array<std::string_view, 2> kTexts{"", "stop"};
  static constexpr const char* kAllowed = "stop";
};
template <>
struct Choices<NetworkRequest> {
  static constexpr std::array<std::string_view, 3> kTexts{"", "ib", "ethernet"};
  static constexpr const char* kAllowed = "ib or ethernet";
};

template <typename Enum>
std::string_view text_of(Enum value) noexcept {
  return Choices<Enum>::kTexts[static_cast<std::size_t>(value)];
}

bool is_loss_scale(const std::string& text) {
  if (text.empty() || text == "none" || text == "dynamic") return true;
  return number_from<float>(text).value_or(0) > 0;
}

}  // namespace

int RunCase::model_parallel() const noexcept {
  std::int64_t product = 1;
  if (strategy_options.empty()) return 1;
  for (const char* key : {"tensor_parallel", "pipeline_parallel", "context_parallel"}) {
    const auto option = strategy_options.find(key);
    if (option == strategy_options.end()) continue;
    const int size = number_from<int>(option->second).value_or(1);
    if (size >= 1 && product * size <= world_size()) product *= size;
  }
  return static_cast<int>(product);
}

std::string_view to_string(ScalingMode mode) noexcept { return text_of(mode); }
std::string_view to_string(LearningRateRule rule) noexcept { return text_of(rule); }
std::string_view to_string(CudaGraphs graphs) noexcept { return text_of(graphs); }
std::string_view to_string(AfterWindow after) noexcept { return text_of(after); }
std::string_view to_string(NetworkRequest network) noexcept { return text_of(network); }

template <typename Enum>
Enum choice_from(std::string_view field, std::string_view text) {
  const auto& texts = Choices<Enum>::kTexts;
  const auto found = std::ranges::find(texts, text);
  if (found == texts.end())
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is \"{}\", but it must be {}", field, text, Choices<Enum>::kAllowed), 0, std::string(field));
  return static_cast<Enum>(found - texts.begin());
}

template ScalingMode choice_from(std::string_view field, std::string_view text);
template LearningRateRule choice_from(std::string_view field, std::string_view text);
template CudaGraphs choice_from(std::string_view field, std::string_view text);
template AfterWindow choice_from(std::string_view field, std::string_view text);
template NetworkRequest choice_from(std::string_view field, std::string_view text);

RunCase baseline_case(const RunCase& run_case) {
  RunCase baseline = run_case;
  if (run_case.scaling == ScalingMode::kStrong) baseline.batch_per_gpu = run_case.global_batch();
  baseline.nodes = 1;
  baseline.gpus_per_node = 1;
  baseline.nodes_not_stated = false;
  baseline.requested_network = NetworkRequest::kAny;
  baseline.link.clear();
  baseline.name.clear();
  baseline.tags.clear();
  return baseline;
}

void set_unplaced(CasePlacement& placement, int ranks) noexcept {
  placement.nodes = 1;
  placement.gpus_per_node = ranks;
  placement.nodes_not_stated = ranks > 1;
}

void check_limits(const RunCase& run_case) {
  require(run_case.nodes >= 1 && run_case.nodes <= kMostRanks, "nodes", run_case.nodes, "from 1 to 65536");
  require(run_case.gpus_per_node >= 1 && run_case.gpus_per_node <= kMostRanks, "gpus", run_case.gpus_per_node,
          "from 1 to 65536");
  require(std::int64_t{run_case.nodes} * run_case.gpus_per_node <= kMostRanks, "nodes x gpus",
          std::int64_t{run_case.nodes} * run_case.gpus_per_node, "65536 or less");
  require(!run_case.nodes_not_stated || run_case.nodes == 1, "nodes", run_case.nodes, "1 where nodes_not_stated is true");
  require(run_case.batch_per_gpu >= 1 && run_case.batch_per_gpu <= kMostSamples, "batch-per-gpu",
          run_case.batch_per_gpu, "1 or more");
  require(run_case.steps >= 0 && run_case.steps <= kMostSteps, "steps", run_case.steps,
          "from 0 to 100000000");
  require(run_case.margin >= 0 && run_case.margin <= 1, "margin", 100 * run_case.margin, "above 0 and at most 100%");
  require(run_case.max_time_s >= 0 && run_case.max_time_s <= kMostSeconds, "max-time", run_case.max_time_s,
          "at most 1000000 seconds");
  require(run_case.warmup >= 0 && run_case.warmup <= kMostSteps, "warmup", run_case.warmup,
          "from 0 to 100000000");
  require(run_case.skip >= 0 && run_case.skip <= kMostSteps, "skip", run_case.skip, "from 0 to 100000000");
  require(run_case.measure >= 0 && run_case.measure <= kMostSteps, "measure", run_case.measure,
          "from 1 to 100000000");
  require(run_case.duration_s >= 0 && run_case.duration_s <= kMostSeconds, "duration", run_case.duration_s,
          "above 0 and at most 1000000 seconds");
  require(run_case.first_bucket_bytes >= 1 && run_case.first_bucket_bytes <= kMostBucketBytes,
          "first bucket bytes", run_case.first_bucket_bytes, "1 or more");
  require(run_case.bucket_bytes >= 1 && run_case.bucket_bytes <= kMostBucketBytes, "bucket bytes",
          run_case.bucket_bytes, "1 or more");
  require(run_case.accumulate >= 1, "accumulate", run_case.accumulate, "1 or more");
  require(run_case.base_batch >= 0, "base-batch", run_case.base_batch, "0 or more");
  require(run_case.lr_warmup >= 0 && run_case.lr_warmup <= kMostSteps, "lr-warmup", run_case.lr_warmup,
          "from 0 to 100000000 steps");
  require(run_case.data_workers >= 0 && run_case.data_workers <= kMostLoaders, "data-workers",
          run_case.data_workers, "from 0 to 1024");
  require(run_case.prefetch >= 1 && run_case.prefetch <= kMostLoaders, "prefetch", run_case.prefetch,
          "from 1 to 1024 batches");
  require(run_case.data_delay_ns >= 0 && run_case.data_delay_ns <= kMostDelayNs, "data-delay",
          run_case.data_delay_ns, "from 0 to 60 seconds");
  require(run_case.checkpoint_every >= 0 && run_case.checkpoint_every <= kMostSteps, "checkpoint-every",
          run_case.checkpoint_every, "from 0 to 100000000 steps");
}

void validate(const RunCase& run_case) {
  require(run_case.steps >= 1 && run_case.steps <= kMostSteps, "steps", run_case.steps, "from 1 to 100000000");
  check_limits(run_case);
  require(run_case.ends_by_margin() ? run_case.max_time_s > 0 : run_case.max_time_s == 0, "max-time", run_case.max_time_s,
          run_case.ends_by_margin() ? "above 0 and at most 1000000 seconds" : "0 where the number of steps is fixed");
  require(std::isfinite(run_case.lr) && run_case.lr > 0, "lr", run_case.lr, "a positive number");
  require(run_case.momentum >= 0 && run_case.momentum < 1, "momentum", run_case.momentum,
          "at least 0 and below 1");
  require(run_case.batch_per_gpu % run_case.accumulate == 0, "accumulate", run_case.accumulate,
          fmt::format("1 or more and divide the batch per GPU, {}", run_case.batch_per_gpu));
  require(std::isfinite(run_case.weight_decay) && run_case.weight_decay >= 0, "weight-decay",
          run_case.weight_decay, "0 or more");
  require(run_case.base_batch >= (run_case.lr_rule == LearningRateRule::kNone ? 0 : 1), "base-batch", run_case.base_batch,
          "1 or more, the global batch that the learning rate was found at");
  require(std::isfinite(run_case.target_loss) && run_case.target_loss >= 0, "target-loss",
          run_case.target_loss, "a positive number, or 0 for none");
  require(is_loss_scale(run_case.loss_scale), "loss-scale", run_case.loss_scale,
          "dynamic, none or a positive number");
}

}  // namespace ddbench
