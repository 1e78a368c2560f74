#include "analyzer/extrapolate/size_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "analyzer/extrapolate/size_path.h"

namespace ddbench::analyzer {
namespace {

constexpr double kCommonError = 0.006;      // error assumed for every model before any size tests it
constexpr double kOlderCountsLess = 0.5;    // weight of each next smaller size that judges
constexpr double kSpreadFactor = 2;         // calibrated: see the header
constexpr double kErrorPerDoubling = 0.03;  // calibrated: see the header

double keeps(double) {
  return 0;
}
double ring(double members) {
  return (members - 1) / members;
}
double tree(double members) {
  return std::log2(members);
}
double line(double members) {
  return members - 1;
}

/// How a model grows with the members of a collective.
struct Growth {
  const char* name;
  double (*of)(double members);
  double prior;
  std::size_t judges_in_node;  ///< sizes that must have judged it before it counts
  std::size_t judges_in_network;
};
constexpr std::array<Growth, 4> kGrowths = {{
    {"keeps its rate", keeps, 1, 0, 0},
    {"(n-1)/n", ring, 1, 0, 0},
    {"log2 n", tree, 0.3, 2, 1},
    {"n-1", line, 0.05, 0, 1},
}};

/// Links of a node that cost a tenth of a step or more are rarer than a loader, host or batch that all GPUs
/// share: the more the GPUs of a node lose, the likelier it is that their loss goes on growing with their
/// number.
double prior_of(const Growth& growth, const PathQuestion& question) {
  if (growth.of != line || question.to.tier == SizeTier::kNetwork) return growth.prior;
  const auto& [smaller, larger] = question.slope;
  constexpr double kWithoutLoss = 0.03;
  if (smaller.batch_per_gpu != larger.batch_per_gpu) return kWithoutLoss;
  return std::min(3.0, kWithoutLoss * std::pow(larger.seconds / smaller.seconds, 10));
}

using Slope = std::pair<PathPoint, PathPoint>;

/// How often `growth` repeats the difference of the slope's two sizes from `from` to `to`; empty where these
/// give no slope. Where it is extrapolated, more members cost no less: a size that is faster than a smaller
/// one does not make the next one faster still.
std::optional<double> repeated(const Growth& growth, const Slope& slope, const PathPoint& from,
                               const PathPoint& to, bool extrapolated) {
  const auto at = [&](const PathPoint& point) {
    return growth.of(point.members(to.tier)) / point.batch_per_gpu;
  };
  constexpr double kNothing = 1e-15;
  const double ahead = at(to) - at(from);
  if (std::abs(ahead) < kNothing) return 0.0;
  const double between = at(slope.second) - at(slope.first);
  if (std::abs(between) < kNothing) return std::nullopt;
  const bool gets_faster = (slope.second.seconds - slope.first.seconds) / between < 0;
  return extrapolated && gets_faster ? 0.0 : ahead / between;
}

double carried(const PathPoint& from, double repeated, const Slope& slope) {
  return from.seconds + repeated * (slope.second.seconds - slope.first.seconds);
}

/// Log errors of a model at the sizes of the path, each predicted from the two before it, in the path's order.
std::vector<double> errors_of(const Growth& growth, const std::vector<PathPoint>& path) {
  std::vector<double> errors;
  for (std::size_t i = 2; i < path.size(); ++i) {
    if (!joined(path[i - 1], path[i]) || !joined(path[i - 2], path[i])) continue;
    const Slope slope = {path[i - 2], path[i - 1]};
    const auto times = repeated(growth, slope, path[i - 1], path[i], true);
    if (!times) continue;
    if (const double seconds = carried(path[i - 1], *times, slope); seconds > 0)
      errors.push_back(std::log(seconds / path[i].seconds));
  }
  return errors;
}

struct Judged {
  const Growth* growth = nullptr;
  double seconds = 0;
  double repeated = 0;  ///< repeated()
  double prior = 0;
  double mean_square = 0;
  double weight = 0;
  Measured<double> error = Measured<double>::missing("fewer than three sizes of one tier");
};

Judged judged(const Growth& growth, double prior, const std::vector<double>& errors, double seconds,
              double repeated) {
  double sum = 0;
  double weights = 0;
  double weight = 1;
  for (auto error = errors.rbegin(); error != errors.rend(); ++error, weight *= kOlderCountsLess) {
    sum += weight * *error * *error;
    weights += weight;
  }
  Judged result{&growth, seconds, repeated};
  result.mean_square = (sum + kCommonError * kCommonError) / (weights + 1);
  result.prior = prior;
  if (weights > 0) result.error = std::sqrt(sum / weights);
  return result;
}

/// Whether a size of the network was predicted from two smaller ones.
bool is_network_judged(const PathQuestion& question) {
  const std::vector<PathPoint>& path = question.elsewhere.empty() ? question.path : question.elsewhere;
  return path.size() > 2 && path.back().tier == SizeTier::kNetwork &&
         joined(path[path.size() - 2], path.back()) && joined(path[path.size() - 3], path.back());
}

/// Weights that sum to 1. That the links of a node cost nothing does not show that the network costs nothing:
/// there, "keeps its rate" is no better than a ring until a size of the network judges it.
void weigh(std::vector<Judged>& models, const PathQuestion& question) {
  const auto is = [](double (*of)(double)) {
    return [of](const Judged& model) { return model.growth->of == of; };
  };
  const auto kept = std::find_if(models.begin(), models.end(), is(keeps));
  const auto ringed = std::find_if(models.begin(), models.end(), is(ring));
  if (question.to.tier == SizeTier::kNetwork && !is_network_judged(question) && kept != models.end() &&
      ringed != models.end())
    kept->mean_square = std::max(kept->mean_square, ringed->mean_square);
  double sum = 0;
  for (const Judged& model : models) sum += model.prior / model.mean_square;
  for (Judged& model : models) model.weight = model.prior / model.mean_square / sum;
}

/// The models that apply.
std::vector<Judged> models_of(const PathQuestion& question) {
  const PathPoint& near = question.path[question.near];
  std::vector<Judged> models;
  for (const Growth& growth : kGrowths) {
    if (growth.of == keeps && question.inside) continue;
    std::vector<double> errors = errors_of(growth, question.path);
    for (const double error : errors_of(growth, question.elsewhere)) errors.push_back(error);
    const bool network = question.to.tier == SizeTier::kNetwork;
    if (errors.size() < (network ? growth.judges_in_network : growth.judges_in_node)) continue;
    const auto times = repeated(growth, question.slope, near, question.to, !question.inside);
    if (!times) continue;
    const double seconds = carried(near, *times, question.slope);
    if (seconds > 0) models.push_back(judged(growth, prior_of(growth, question), errors, seconds, *times));
  }
  weigh(models, question);
  return models;
}

/// Variance of the logarithm of the mean over models, from the noise of the runs of the sizes that it goes through:
/// seconds = near + repeated (slope.second - slope.first), where slope.second is the near size itself unless the
/// slope lies elsewhere.
double noise_variance(const std::vector<Judged>& models, const PathQuestion& question, double seconds) {
  double repeated = 0;
  for (const Judged& model : models) repeated += model.weight * model.repeated;
  const auto variance = [&](const PathPoint& point, double times) {
    const double share = times * point.seconds / seconds;
    return share * share * point.variance;
  };
  const PathPoint& near = question.path[question.near];
  const auto& [smaller, larger] = question.slope;
  const double of_smaller = variance(smaller, repeated);
  if (question.elsewhere.empty()) return variance(near, 1 + repeated) + of_smaller;
  return variance(near, 1) + variance(larger, repeated) + of_smaller;
}

/// Standard deviation of the logarithm of the mean.
double log_error(const std::vector<Judged>& models, const PathQuestion& question, double seconds, double gpus) {
  double between = 0;
  double judged_off = 0;
  for (const Judged& model : models) {
    const double off = std::log(model.seconds / seconds);
    between += model.weight * off * off;
    judged_off += model.weight * model.mean_square;
  }
  const PathPoint& near = question.path[question.near];
  const double doublings = std::abs(std::log2(gpus / near.shape.gpus()));
  const double distance = kErrorPerDoubling * doublings;
  return std::sqrt(kSpreadFactor * kSpreadFactor * between + judged_off + distance * distance +
                   noise_variance(models, question, seconds));
}

bool far_from(std::span<const SizeRate> sizes, double gpus) {
  double smallest = sizes.front().shape.gpus();
  double largest = smallest;
  for (const SizeRate& size : sizes) {
    smallest = std::min(smallest, size.shape.gpus());
    largest = std::max(largest, size.shape.gpus());
  }
  return gpus > 2 * largest || gpus < smallest / 2;
}

}  // namespace

Measured<SizePrediction> predict_size(std::span<const SizeRate> sizes, const SizeQuestion& question) {
  const Measured<PathQuestion> path = path_to(sizes, question);
  if (!path) return Measured<SizePrediction>::missing(path.reason());
  const std::vector<Judged> models = models_of(*path);
  if (models.empty()) return Measured<SizePrediction>::missing("no law can be carried on to that size");
  double seconds = 0;
  for (const Judged& model : models) seconds += model.weight * model.seconds;
  const double gpus = question.shape.gpus();
  SizePrediction result;
  result.shape = question.shape;
  result.samples_per_s = gpus / seconds;
  const double half = kNormal95 * log_error(models, *path, seconds, gpus);
  result.interval = {result.samples_per_s * std::exp(-half), result.samples_per_s * std::exp(half), 0.95,
                     "averaged models, back-tested"};
  for (const Judged& model : models)
    result.models.push_back({model.growth->name, model.weight, gpus / model.seconds, model.error});
  std::stable_sort(result.models.begin(), result.models.end(),
                   [](const SizeModel& a, const SizeModel& b) { return a.weight > b.weight; });
  result.extrapolated = far_from(sizes, gpus);
  return result;
}

}  // namespace ddbench::analyzer
