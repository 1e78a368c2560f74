#include "analyzer/diagnose/pauses.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "analyzer/diagnose/culprit.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kFewest = 4;
constexpr std::size_t kFewestSeen = 2;  // with the probes on
constexpr double kShareOfStep = 0.5;
constexpr double kDeviations = 8;
constexpr double kInMost = 0.6;       // of the steps that can be laid to someone
constexpr double kRegularShare = 0.7;  // of the gaps
constexpr double kGapTolerance = 0.2;

double median_deviation(const std::vector<double>& values, double centre) {
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return median(std::move(deviations));
}

/// Whether most gaps are multiples of one of them, and which one.
struct Regularity {
  bool is_regular = false;
  double period = 0;
};

Regularity regularity_of(const std::vector<double>& times) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  if (gaps.size() + 1 < kFewest) return {};
  std::vector<double> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  // Some pauses fall into steps with the probes off or into collectives, so the period is among the short gaps.
  const double period = quantile(sorted, 0.25);
  if (period <= 0) return {};
  double fitting = 0;
  for (const double gap : gaps) {
    const double times_longer = std::max(1.0, std::round(gap / period));
    fitting += times_longer <= 4 && std::abs(gap / times_longer - period) <= kGapTolerance * period;
  }
  return {fitting >= kRegularShare * static_cast<double>(gaps.size()), period};
}

struct HeldUp {
  std::vector<std::size_t> rows;
  std::vector<double> beyond_ns;
  std::vector<UnprobedStep> unprobed;
  std::vector<double> unprobed_beyond_ns;  ///< beyond the median step, as beyond_ns
};

HeldUp held_up(const WorkTable& table, double usual_ns) {
  const double least_ns =
      std::max(kShareOfStep * usual_ns, kDeviations * median_deviation(table.step_ns, usual_ns));
  HeldUp held;
  for (std::size_t row = 0; row < table.step_count(); ++row) {
    if (table.step_ns[row] - usual_ns < least_ns) continue;
    held.rows.push_back(row);
    held.beyond_ns.push_back(table.step_ns[row] - usual_ns);
  }
  for (const UnprobedStep& step : table.unprobed) {
    if (step.duration_ns - usual_ns < least_ns) continue;
    held.unprobed.push_back(step);
    held.unprobed_beyond_ns.push_back(step.duration_ns - usual_ns);
  }
  return held;
}

/// Without those far shorter than the fourth longest: pauses have similar lengths, and the rest is chance.
HeldUp pauses_among(const HeldUp& held) {
  constexpr double kLikeThem = 0.25;
  std::vector<double> lengths = held.beyond_ns;
  lengths.insert(lengths.end(), held.unprobed_beyond_ns.begin(), held.unprobed_beyond_ns.end());
  if (lengths.size() < kFewest) return held;
  std::nth_element(lengths.begin(), lengths.begin() + kFewest - 1, lengths.end(), std::greater<>());
  const double least_ns = kLikeThem * lengths[kFewest - 1];
  HeldUp pauses;
  for (std::size_t i = 0; i < held.rows.size(); ++i) {
    if (held.beyond_ns[i] < least_ns) continue;
    pauses.rows.push_back(held.rows[i]);
    pauses.beyond_ns.push_back(held.beyond_ns[i]);
  }
  for (std::size_t i = 0; i < held.unprobed.size(); ++i) {
    if (held.unprobed_beyond_ns[i] < least_ns) continue;
    pauses.unprobed.push_back(held.unprobed[i]);
    pauses.unprobed_beyond_ns.push_back(held.unprobed_beyond_ns[i]);
  }
  return pauses;
}

double time_of_all_steps(const WorkTable& table) {
  double sum = std::accumulate(table.step_ns.begin(), table.step_ns.end(), 0.0);
  for (const UnprobedStep& step : table.unprobed) sum += step.duration_ns;
  return std::max(sum, 1.0);
}

/// In how many steps each rank's own work explains half of the delay, and which rows any rank's work
/// explains.
struct Blame {
  std::vector<std::size_t> times;
  std::vector<std::size_t> rows;
};

Blame blame_for(const WorkTable& table, const HeldUp& held, const std::vector<std::vector<double>>& excess) {
  Blame blame;
  blame.times.assign(table.rank_count(), 0);
  for (std::size_t i = 0; i < held.rows.size(); ++i) {
    bool any = false;
    for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
      if (excess[rank][held.rows[i]] < kShareOfStep * held.beyond_ns[i]) continue;
      ++blame.times[rank];
      any = true;
    }
    if (any) blame.rows.push_back(held.rows[i]);
  }
  return blame;
}

void measure(const WorkTable& table, double usual_ns, const HeldUp& held, const std::vector<std::vector<double>>& excess,
             Pauses& pauses) {
  std::vector<double> leads;
  for (std::size_t row = 0; row < table.step_count(); ++row)
    leads.push_back(lost_to_waiting_ns(table, {row, row + 1}, 1));
  const double usual_lead_ns = median(leads);  // of chance
  double lead_ns = 0;
  for (const double lead : leads) lead_ns += std::max(0.0, lead - usual_lead_ns);
  double explained_ns = 0;
  double beyond_ns = std::accumulate(held.unprobed_beyond_ns.begin(), held.unprobed_beyond_ns.end(), 0.0);
  std::vector<double> lengths;
  for (const std::size_t row : pauses.rows) {
    double theirs = 0;
    for (const std::size_t rank : pauses.ranks) theirs = std::max(theirs, excess[rank][row]);
    explained_ns += std::clamp(theirs, 0.0, std::max(0.0, leads[row] - usual_lead_ns));
    beyond_ns += table.step_ns[row] - usual_ns;
    lengths.push_back(table.step_ns[row] - usual_ns);
  }
  pauses.length_ns = median(std::move(lengths));
  pauses.cost_share = beyond_ns / time_of_all_steps(table);
  pauses.explained = lead_ns > 0 ? explained_ns / lead_ns : 0;
}

void find_period(const WorkTable& table, const HeldUp& held, Pauses& pauses) {
  std::vector<double> steps;
  std::vector<double> times_ns;
  for (const std::size_t row : pauses.rows) {
    steps.push_back(table.steps[row]);
    times_ns.push_back(table.begin_ns[row]);
  }
  for (const UnprobedStep& step : held.unprobed) {
    steps.push_back(step.step);
    times_ns.push_back(step.begin_ns);
  }
  for (auto* list : {&steps, &times_ns}) std::sort(list->begin(), list->end());
  const Regularity by_step = regularity_of(steps);
  const Regularity by_time = regularity_of(times_ns);
  pauses.is_regular = by_step.is_regular || by_time.is_regular;
  pauses.period_steps = by_step.period;
  pauses.period_ns = by_time.period;
}

}  // namespace

std::optional<Pauses> find_pauses(const WorkTable& table) {
  if (table.rank_count() < 2 || table.step_count() < 2 * kFewest) return std::nullopt;
  const double usual_ns = median(table.step_ns);
  const HeldUp held = pauses_among(held_up(table, usual_ns));
  if (held.rows.size() + held.unprobed.size() < kFewest || held.rows.size() * 3 > table.step_count()) return std::nullopt;
  std::vector<std::vector<double>> excess;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) excess.push_back(excess_of(table, rank));
  const Blame blame = blame_for(table, held, excess);
  if (blame.rows.size() < kFewestSeen) return std::nullopt;
  Pauses pauses;
  bool always = true;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
    if (static_cast<double>(blame.times[rank]) >= kInMost * static_cast<double>(blame.rows.size()))
      pauses.ranks.push_back(rank);
    always &= blame.times[rank] == 0 || blame.times[rank] == blame.rows.size();
  }
  if (pauses.ranks.empty() || pauses.ranks.size() * 2 > table.rank_count()) return std::nullopt;
  pauses.rows = blame.rows;
  pauses.unprobed = held.unprobed.size();
  measure(table, usual_ns, held, excess, pauses);
  find_period(table, held, pauses);
  if (blame.rows.size() < kFewest && !(always && pauses.is_regular)) return std::nullopt;
  return pauses;
}

HeldUpSteps held_up_steps(const WorkTable& table) {
  HeldUpSteps found;
  if (table.step_ns.empty()) return found;
  const double usual_ns = median(table.step_ns);
  const HeldUp held = held_up(table, usual_ns);
  std::vector<double> lengths = held.beyond_ns;
  lengths.insert(lengths.end(), held.unprobed_beyond_ns.begin(), held.unprobed_beyond_ns.end());
  found.count = lengths.size();
  if (lengths.empty()) return found;
  found.cost_share = std::accumulate(lengths.begin(), lengths.end(), 0.0) / time_of_all_steps(table);
  found.length_ns = median(std::move(lengths));
  return found;
}

}  // namespace ddbench::analyzer
