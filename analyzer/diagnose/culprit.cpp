#include "analyzer/diagnose/culprit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analyzer/diagnose/excess_windows.h"
#include "analyzer/statistics/series_mean.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kSmooth = 8;     // at least
constexpr std::size_t kBlocks = 12;    // of a window that is long enough
constexpr double kLeastExplainedInSteps = 0.4;  // of single steps, which have chance in them

bool holds(const std::vector<std::size_t>& ranks, std::size_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Own work by rank, averaged over rows [first, first + count).
std::vector<double> mean_own(const WorkTable& table, std::size_t first, std::size_t count) {
  std::vector<double> own(table.rank_count());
  for (std::size_t step = first; step < first + count; ++step) {
    for (std::size_t rank = 0; rank < own.size(); ++rank) own[rank] += table.own(step, rank);
  }
  for (double& each : own) each /= static_cast<double>(count);
  return own;
}

/// The slowest minus the median of the others.
double lead_of_slowest(std::vector<double> own) {
  const auto slowest = std::max_element(own.begin(), own.end());
  const double most = *slowest;
  own.erase(slowest);
  return most - median(std::move(own));
}

double median_without(const std::vector<double>& own, const std::vector<std::size_t>& left_out) {
  std::vector<double> others;
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    if (!holds(left_out, rank)) others.push_back(own[rank]);
  }
  return median(std::move(others));
}

/// The same steps in which `ranks` are no slower than the others.
void remove_excess(const std::vector<std::size_t>& ranks, std::vector<double>& own) {
  const double usual = median_without(own, ranks);
  for (const std::size_t rank : ranks) own[rank] = std::min(own[rank], usual);
}

struct Loss {
  double before_ns = 0;  ///< mean lead of the slowest rank
  double after_ns = 0;   ///< without the excess of the culprits
  double saved_ns = 0;   ///< mean by which the slowest rank's work becomes shorter
  double explained() const noexcept { return before_ns > 0 ? 1 - after_ns / before_ns : 0; }
};

Loss loss_without(const WorkTable& table, StepWindowRows window, const std::vector<std::size_t>& ranks,
                  std::size_t smooth) {
  Loss loss;
  double blocks = 0;
  const std::size_t count = std::min(smooth, window.size());
  for (std::size_t first = window.first; first + count <= window.end; first += count, ++blocks) {
    std::vector<double> own = mean_own(table, first, count);
    const double slowest = *std::max_element(own.begin(), own.end());
    loss.before_ns += lead_of_slowest(own);
    if (!ranks.empty()) remove_excess(ranks, own);
    loss.after_ns += lead_of_slowest(own);
    loss.saved_ns += slowest - *std::max_element(own.begin(), own.end());
  }
  for (double* each : {&loss.before_ns, &loss.after_ns, &loss.saved_ns}) *each /= std::max(blocks, 1.0);
  return loss;
}

std::size_t next_slowest(const WorkTable& table, StepWindowRows window, const std::vector<std::size_t>& taken) {
  const std::vector<double> own = mean_own(table, window.first, window.size());
  std::size_t slowest = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    if (holds(taken, rank) || own[rank] <= most) continue;
    slowest = rank;
    most = own[rank];
  }
  return slowest;
}

double median_part(const WorkTable& table, std::size_t step, OwnPart part, const std::vector<std::size_t>& left_out) {
  std::vector<double> others;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
    if (!holds(left_out, rank)) others.push_back(table.at(step, rank)[part]);
  }
  return median(std::move(others));
}

void find_part(const WorkTable& table, Culprit& culprit) {
  std::array<double, kOwnParts> theirs{};
  std::array<double, kOwnParts> usual{};
  const double scale = 1.0 / static_cast<double>(culprit.window.size());
  for (std::size_t step = culprit.window.first; step < culprit.window.end; ++step) {
    for (std::size_t i = 0; i < kOwnParts; ++i) {
      const auto part = static_cast<OwnPart>(i);
      usual[i] += scale * median_part(table, step, part, culprit.ranks);
      for (const std::size_t rank : culprit.ranks)
        theirs[i] += scale * table.at(step, rank)[part] / static_cast<double>(culprit.ranks.size());
    }
  }
  double positive = 0;
  double most = 0;
  for (std::size_t i = 0; i < kOwnParts; ++i) {
    const double excess = std::max(0.0, theirs[i] - usual[i]);
    positive += excess;
    if (excess <= most) continue;
    most = excess;
    culprit.part = static_cast<OwnPart>(i);
    culprit.part_ratio = usual[i] > 0 ? theirs[i] / usual[i] : 0;
  }
  culprit.part_share = positive > 0 ? most / positive : 0;
}

/// Values are clipped to six robust deviations: a single long step is no evidence about the others.
void draw_in(std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  const double reach = 6 * std::max(1.4826 * median(std::move(deviations)), 0.005 * centre);
  for (double& value : values) value = std::clamp(value, centre - reach, centre + reach);
}

/// Excess, its median over steps, and the interval of the ratio to the others.
void measure_excess(const WorkTable& table, const CulpritLimits& limits, Culprit& culprit) {
  std::vector<double> excess;
  std::vector<double> ratio;
  for (std::size_t step = culprit.window.first; step < culprit.window.end; ++step) {
    const std::vector<double> own = mean_own(table, step, 1);
    const double usual = median_without(own, culprit.ranks);
    double theirs = 0;
    for (const std::size_t rank : culprit.ranks) theirs += own[rank] / static_cast<double>(culprit.ranks.size());
    excess.push_back(theirs - usual);
    // The floor is a part of the step that collectives do not hide: without it, the ratio of two tiny amounts
    // of work would overstate a small difference.
    const double floor_ns = 0.05 * table.step_ns[step];
    ratio.push_back((theirs + floor_ns) / (usual + floor_ns));
  }
  culprit.excess_ns = mean(excess);
  culprit.typical_share = culprit.excess_ns > 0 ? median(excess) / culprit.excess_ns : 0;
  draw_in(ratio);
  const auto interval = mean_of_steps(ratio, limits.level);
  culprit.slowdown_low = interval ? interval->estimate.interval.low : 0;
}

/// The largest mean excess of the other ranks over windows of this length: their normal variation.
double usual_swing(const WorkTable& table, const Culprit& culprit) {
  const std::size_t length = culprit.window.size();
  std::vector<double> means;
  for (std::size_t first = 0; first + length <= table.step_count(); first += length) {
    const std::vector<double> own = mean_own(table, first, length);
    const double usual = median_without(own, culprit.ranks);
    for (std::size_t rank = 0; rank < own.size(); ++rank) {
      if (!holds(culprit.ranks, rank) && own[rank] != usual) means.push_back(own[rank] - usual);
    }
  }
  constexpr std::size_t kFewest = 3;
  if (means.size() < kFewest) return 0;
  double squares = 0;
  for (const double each : means) squares += each * each;
  return std::sqrt(squares / static_cast<double>(means.size()));
}

/// The same of the culprits' own mean excess outside of the window, about its median there.
double own_swing(const WorkTable& table, const Culprit& culprit) {
  const std::size_t length = std::max<std::size_t>(culprit.window.size() / 2, 1);
  std::vector<double> means;
  for (std::size_t first = 0; first + length <= table.step_count(); first += length) {
    if (first < culprit.window.end && first + length > culprit.window.first) continue;
    const std::vector<double> own = mean_own(table, first, length);
    double theirs = 0;
    for (const std::size_t rank : culprit.ranks) theirs += own[rank] / static_cast<double>(culprit.ranks.size());
    means.push_back(theirs - median_without(own, culprit.ranks));
  }
  constexpr std::size_t kFewest = 4;
  if (means.size() < kFewest) return 0;
  const double centre = median(means);
  for (double& each : means) each = std::abs(each - centre);
  return 1.4826 * median(std::move(means));
}

double mean_step_ns(const WorkTable& table, StepWindowRows window) {
  const auto first = table.step_ns.begin() + static_cast<std::ptrdiff_t>(window.first);
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(window.size()), 0.0) /
         static_cast<double>(window.size());
}

double total_cost_ns(const Culprit& culprit) {
  return culprit.cost_ns * static_cast<double>(culprit.window.size());
}

}  // namespace

double lost_to_waiting_ns(const WorkTable& table, StepWindowRows window, std::size_t smooth) {
  if (window.size() == 0 || table.rank_count() < 2) return 0;
  return loss_without(table, window, {}, std::max<std::size_t>(smooth, 1)).before_ns;
}

std::vector<double> excess_of(const WorkTable& table, std::size_t rank) {
  std::vector<double> excess;
  excess.reserve(table.step_count());
  for (std::size_t step = 0; step < table.step_count(); ++step) {
    const std::vector<double> own = mean_own(table, step, 1);
    excess.push_back(own[rank] - median_without(own, {rank}));
  }
  return excess;
}

Culprit culprit_in(const WorkTable& table, StepWindowRows window, const CulpritLimits& limits) {
  Culprit culprit;
  culprit.window = window;
  const std::size_t most = std::max<std::size_t>(table.rank_count() / 2, 1);
  const std::size_t smooth = std::max(kSmooth, window.size() / kBlocks);
  while (culprit.ranks.size() < most) {
    culprit.ranks.push_back(next_slowest(table, window, culprit.ranks));
    culprit.explained = loss_without(table, window, culprit.ranks, smooth).explained();
    if (culprit.explained >= limits.least_explained) break;
  }
  std::sort(culprit.ranks.begin(), culprit.ranks.end());
  const Loss in_steps = loss_without(table, window, culprit.ranks, 1);
  if (in_steps.explained() < kLeastExplainedInSteps) culprit.explained = std::min(culprit.explained, in_steps.explained());
  measure_excess(table, limits, culprit);
  // In single steps any rank may be the slowest by chance: cost beyond the mean excess is not attributed to
  // them.
  culprit.cost_ns = std::clamp(in_steps.saved_ns, 0.0, std::max(culprit.excess_ns, 0.0));
  culprit.cost_share = culprit.cost_ns / std::max(mean_step_ns(table, window), 1.0);
  culprit.usual_swing_ns = std::max(usual_swing(table, culprit), own_swing(table, culprit));
  find_part(table, culprit);
  return culprit;
}

bool is_accused(const Culprit& culprit, const CulpritLimits& limits) {
  return culprit.window.size() >= limits.least_steps && culprit.cost_share >= limits.least_cost &&
         culprit.explained >= limits.least_explained && culprit.slowdown_low > 1 &&
         culprit.excess_ns >= limits.least_swings * culprit.usual_swing_ns;
}

std::optional<Culprit> find_culprit(const WorkTable& table, const CulpritLimits& limits) {
  if (table.rank_count() < 2 || table.step_count() < limits.least_steps) return std::nullopt;
  std::vector<Culprit> found;
  for (const StepWindowRows& window : excess_windows(table, std::max(limits.least_steps, table.step_count() / 10))) {
    Culprit culprit = culprit_in(table, window, limits);
    if (is_accused(culprit, limits)) found.push_back(std::move(culprit));
  }
  if (found.empty()) return std::nullopt;
  double most = 0;
  for (const Culprit& culprit : found) most = std::max(most, total_cost_ns(culprit));
  std::erase_if(found, [&](const Culprit& culprit) { return total_cost_ns(culprit) < 0.97 * most; });
  return *std::min_element(found.begin(), found.end(), [](const Culprit& a, const Culprit& b) {
    return a.window.size() < b.window.size();
  });
}

}  // namespace ddbench::analyzer
