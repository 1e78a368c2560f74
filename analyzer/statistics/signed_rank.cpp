#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostSignedRanks = 400;
constexpr double kNormal95 = 1.959964;

std::vector<double> in_groups(std::span<const double> values) {
  if (values.size() <= kMostSignedRanks) return {values.begin(), values.end()};
  std::vector<double> means;
  for (std::size_t group = 0; group < kMostSignedRanks; ++group) {
    const std::size_t begin = group * values.size() / kMostSignedRanks;
    const std::size_t end = (group + 1) * values.size() / kMostSignedRanks;
    means.push_back(mean(values.subspan(begin, end - begin)));
  }
  return means;
}

}  // namespace

Measured<Estimate> signed_rank_estimate(std::span<const double> differences) {
  if (differences.size() < kFewestSignedRanks) {
    return Measured<Estimate>::missing(
        fmt::format("{} pairs: {} or more are needed", differences.size(), kFewestSignedRanks));
  }
  const std::vector<double> values = in_groups(differences);
  std::vector<double> means_of_two;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) means_of_two.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means_of_two.begin(), means_of_two.end());
  const auto n = static_cast<double>(values.size());
  const double rejected = n * (n + 1) / 4 - kNormal95 * std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  const auto cut = static_cast<std::size_t>(std::max(1.0, std::floor(rejected)));
  const std::size_t middle = means_of_two.size() / 2;
  const double centre = means_of_two.size() % 2 == 1 ? means_of_two[middle]
                                                     : (means_of_two[middle - 1] + means_of_two[middle]) / 2;
  return Estimate{centre,
                  {means_of_two[cut - 1], means_of_two[means_of_two.size() - cut], 0.95,
                   fmt::format("signed ranks (n={})", values.size())}};
}

}  // namespace ddbench::analyzer
