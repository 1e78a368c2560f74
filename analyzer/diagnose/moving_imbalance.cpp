#include "analyzer/diagnose/moving_imbalance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kLeastSteps = 40;
constexpr double kLeastLost = 0.10;
constexpr double kLeastPart = 0.8;
constexpr double kLeastStandsOut = 1.0;

/// Standard deviations by which the slowest of three or more equal ranks may lead the median of the others by
/// chance. On average it leads by less (8 ranks: 1.42 and the spread of the median); the excess over that is
/// a margin.
constexpr double kLeadOfChance = 3.0;

double robust_deviation(std::vector<double> values) {
  if (values.empty()) return 0;
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return 1.4826 * median(std::move(values));
}

struct Lead {
  std::size_t rank = 0;
  double ns = 0;
  std::array<double, kOwnParts> parts{};
};

Lead lead_in(const WorkTable& table, std::size_t row, std::vector<double>& deviations) {
  Lead lead;
  std::vector<double> own;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) own.push_back(table.own(row, rank));
  lead.rank = static_cast<std::size_t>(std::max_element(own.begin(), own.end()) - own.begin());
  const auto others_of = [&](auto&& value) {
    std::vector<double> others;
    for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
      if (rank != lead.rank) others.push_back(value(rank));
    }
    return others;
  };
  const double usual = median(others_of([&](std::size_t rank) { return own[rank]; }));
  lead.ns = own[lead.rank] - usual;
  // The median rank itself is no evidence of how well the others agree, and with few others their distances
  // to their own median are small by construction.
  const auto others = static_cast<double>(own.size() - 1);
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    if (rank != lead.rank && own[rank] != usual) deviations.push_back((own[rank] - usual) / std::sqrt(1 - 1 / others));
  }
  for (std::size_t i = 0; i < kOwnParts; ++i) {
    lead.parts[i] = table.at(row, lead.rank).ns[i] - median(others_of([&](std::size_t rank) { return table.at(row, rank).ns[i]; }));
  }
  return lead;
}

/// With two ranks there are no others that could agree: instead, the test is whether leads are rarely small.
/// For normal, identically distributed works, 36% of the leads are below half of the median lead.
double stands_out_of_two(const std::vector<double>& leads) {
  constexpr double kSmallShare = 0.12;
  const double half = median(leads) / 2;
  const auto small = std::count_if(leads.begin(), leads.end(), [&](double lead) { return lead < half; });
  return kSmallShare * static_cast<double>(leads.size()) / static_cast<double>(std::max<std::ptrdiff_t>(small, 1));
}

}  // namespace

MovingImbalance moving_imbalance(const WorkTable& table) {
  MovingImbalance found;
  if (table.rank_count() < 2 || table.step_count() == 0) return found;
  std::vector<double> leads;
  std::vector<double> deviations;
  std::vector<double> times(table.rank_count());
  std::array<double, kOwnParts> parts{};
  for (std::size_t row = 0; row < table.step_count(); ++row) {
    const Lead lead = lead_in(table, row, deviations);
    leads.push_back(lead.ns);
    ++times[lead.rank];
    for (std::size_t i = 0; i < kOwnParts; ++i) parts[i] += lead.parts[i];
  }
  const double rows = static_cast<double>(leads.size());
  const double total = std::accumulate(leads.begin(), leads.end(), 0.0);
  found.steps = leads.size();
  found.lost_share = total / std::max(std::accumulate(table.step_ns.begin(), table.step_ns.end(), 0.0), 1.0);
  const auto part = std::max_element(parts.begin(), parts.end());
  found.part = static_cast<OwnPart>(part - parts.begin());
  found.part_share = total > 0 ? *part / total : 0;
  found.most_often = *std::max_element(times.begin(), times.end()) / rows;
  const double chance = robust_deviation(deviations) * kLeadOfChance;
  found.stands_out = table.rank_count() == 2 ? stands_out_of_two(leads) : chance > 0 ? median(leads) / chance : 0;
  return found;
}

bool is_moving_imbalance(const MovingImbalance& found, std::size_t ranks) {
  const double too_often = ranks == 2 ? 0.75 : 0.6;
  return found.steps >= kLeastSteps && found.lost_share >= kLeastLost && found.stands_out >= kLeastStandsOut && found.part_share >= kLeastPart &&
         found.most_often <= too_often && (found.part == OwnPart::kCompute || found.part == OwnPart::kDataWait);
}

}  // namespace ddbench::analyzer
