#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/scaling/scaling_curve.h"
#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr int kMostGpus = 10'000'000;

std::optional<int> count_from(std::string_view text) {
  const auto count = number_from<int>(text);
  return count && *count >= 1 && *count <= kMostGpus ? count : std::nullopt;
}

bool has_unstated_nodes(const ScalingCurve& curve) {
  return std::any_of(curve.rows.begin(), curve.rows.end(), [](const CurveRow& row) { return row.run_case.nodes_not_stated; });
}

/// Whether some size does not state its nodes, or the user treats all GPUs as one tier.
bool has_one_tier(const ScalingCurve& curve, const CurveOptions& options) {
  return options.one_tier || has_unstated_nodes(curve);
}

int gpus_of_a_node(const ScalingCurve& curve) {
  return curve.rows.back().run_case.gpus_per_node;  // rows are by size: the largest one's
}

/// As the user wrote it.
std::string in_words(const AskedSize& size) {
  return size.gpus_per_node > 0 ? fmt::format("{}x{}", size.nodes_or_gpus, size.gpus_per_node)
                                : fmt::format("{}", size.nodes_or_gpus);
}

ClusterShape shape_of(const ScalingCurve& curve, const AskedSize& size, bool one_tier) {
  if (size.gpus_per_node > 0) return {size.nodes_or_gpus, size.gpus_per_node};
  const int gpus = size.nodes_or_gpus;
  if (one_tier) return {1, gpus, has_unstated_nodes(curve)};
  const int per_node = gpus_of_a_node(curve);
  if (gpus <= per_node) return {1, gpus};
  if (gpus % per_node != 0) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--predict {}: {} GPUs are no whole number of nodes of {}, as the largest runs have them "
                            "(write NODESxGPUS for others)",
                            gpus, gpus, per_node));
  }
  return {gpus / per_node, per_node};
}

std::vector<SizeRate> sizes_of(const ScalingCurve& curve) {
  std::vector<SizeRate> sizes;
  for (const CurveRow& row : curve.rows) {
    SizeRate size;
    size.shape = {row.run_case.nodes, row.run_case.gpus_per_node, row.run_case.nodes_not_stated};
    size.batch_per_gpu = static_cast<double>(row.run_case.global_batch()) / row.world_size;
    size.samples_per_s = row.run_samples_per_s;
    sizes.push_back(std::move(size));
  }
  return sizes;
}

Prediction prediction_of(const SizePrediction& found) {
  Prediction prediction;
  prediction.n = found.shape.gpus();
  prediction.throughput = found.samples_per_s;
  prediction.interval = Estimate{found.samples_per_s, found.interval};
  prediction.extrapolated = found.extrapolated;
  prediction.shape = found.shape;
  prediction.models = found.models;
  return prediction;
}

SizeQuestion question_of(const ScalingCurve& curve, const ClusterShape& shape, bool one_tier) {
  const RunCase& largest = curve.rows.back().run_case;
  const auto batch = static_cast<double>(largest.global_batch());
  SizeQuestion question;
  question.one_tier = one_tier;
  question.shape = shape;
  question.model_parallel = largest.model_parallel();
  question.batch_per_gpu = batch / (curve.mode == ScalingMode::kStrong ? shape.gpus() : largest.world_size());
  return question;
}

}  // namespace

AskedSize asked_size(std::string_view text) {
  const std::size_t cross = text.find('x');
  const std::optional<int> first = count_from(text.substr(0, cross));
  const std::optional<int> second =
      cross == std::string_view::npos ? std::optional(0) : count_from(text.substr(cross + 1));
  const bool whole = first && second && static_cast<double>(*first) * std::max(1, *second) <= kMostGpus;
  if (!whole) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--predict {}: it must be from 1 to {} GPUs, or nodes x GPUs as in 8x4", text, kMostGpus));
  }
  return {*first, *second};
}

std::vector<Prediction> predictions_of(const ScalingCurve& curve, const CurveOptions& options) {
  const bool one_tier = has_one_tier(curve, options);
  const std::vector<SizeRate> sizes = sizes_of(curve);
  std::vector<Prediction> predictions;
  for (const AskedSize& size : options.predict_at) {
    const SizeQuestion question = question_of(curve, shape_of(curve, size, one_tier), one_tier);
    const Measured<SizePrediction> found = predict_size(sizes, question);
    if (!found) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("--predict {}: {}", in_words(size), found.reason()));
    }
    predictions.push_back(prediction_of(*found));
  }
  return predictions;
}

std::vector<ValidatedSize> validated_sizes(const ScalingCurve& curve, bool one_tier) {
  CurveOptions options;
  options.one_tier = one_tier;
  const bool tier = has_one_tier(curve, options);
  const std::vector<SizeRate> sizes = sizes_of(curve);
  std::vector<ValidatedSize> result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ValidatedSize size{sizes[i].shape, curve.rows[i].samples_per_s};
    if (i > 0) {
      // A size with stated nodes, and the same without, are no smaller than each other.
      const auto equal = std::find_if(sizes.begin(), sizes.end(), [&](const SizeRate& other) { return other.shape.gpus() >= sizes[i].shape.gpus(); });
      const auto smaller = tier ? static_cast<std::size_t>(equal - sizes.begin()) : i;
      const auto found = predict_size(std::span(sizes).first(smaller), question_of(curve, sizes[i].shape, tier));
      size.predicted = found ? Measured<Prediction>(prediction_of(*found)) : Measured<Prediction>::missing(found.reason());
    }
    result.push_back(std::move(size));
  }
  return result;
}

}  // namespace ddbench::analyzer
