#include "analyzer/diagnose/live/live_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/attribution/communicators.h"
#include "analyzer/diagnose/live/live_cause.h"
#include "analyzer/statistics/statistics.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostLooks = 60;
constexpr double kLeastCost = 0.10;
constexpr double kNoCost = 0.05;
constexpr double kErrors = 3;
constexpr double kInMostLooks = 0.8;
constexpr double kLikeTheSlowest = 0.6;  // of its waits: they are slow together

}  // namespace

LiveVerdict::LiveVerdict(std::vector<int> nodes, std::uint64_t first_step)
    : nodes_(std::move(nodes)), first_step_(first_step), ranks_(nodes_.size()) {}

void LiveVerdict::add(const LiveReading& reading) {
  if (reading.rank < 0 || static_cast<std::size_t>(reading.rank) >= ranks_.size()) return;
  Rank& rank = ranks_[static_cast<std::size_t>(reading.rank)];
  rank.steps = std::max(rank.steps, reading.steps);
  if (reading.steps < first_step_) return;
  if (reading.steps <= rank.latest.steps || reading.collectives_ns < rank.latest.collectives_ns) return;
  rank.latest = reading;
  if (rank.at_look.steps == 0) rank.at_look = reading;
}

void LiveVerdict::add_own(const LiveOwnTime& time) {
  if (time.rank < 0 || static_cast<std::size_t>(time.rank) >= ranks_.size()) return;
  LiveOwnTime& own = ranks_[static_cast<std::size_t>(time.rank)].own;
  if (time.steps > own.steps && time.data_ns >= own.data_ns && time.cpu_wait_ns >= own.cpu_wait_ns) own = time;
}

std::uint64_t LiveVerdict::steps() const noexcept {
  std::uint64_t fewest = ranks_.empty() ? 0 : ranks_.front().steps;
  for (const Rank& rank : ranks_) fewest = std::min(fewest, rank.steps);
  return fewest;
}

/// Each rank has ended a step since the last look, and all of them about equally many.
bool LiveVerdict::take_look(std::int64_t now_ns) {
  const bool all_went_on = std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
    return rank.at_look.steps > 0 && rank.latest.steps > rank.at_look.steps;
  });
  if (!last_look_ns_ || !all_went_on) {
    const bool all_began = std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.at_look.steps > 0; });
    if (!last_look_ns_ && all_began) last_look_ns_ = now_ns;
    return false;
  }
  Look look;
  look.first_step = steps();
  look.seconds = static_cast<double>(now_ns - *last_look_ns_) / 1e9;
  std::vector<double> steps;
  std::vector<double> in_collectives;  // of a step, ns
  for (Rank& rank : ranks_) {
    const auto count = static_cast<double>(rank.latest.steps - rank.at_look.steps);
    steps.push_back(count);
    in_collectives.push_back(static_cast<double>(rank.latest.collectives_ns - rank.at_look.collectives_ns) / count);
    look.first_step = std::min(look.first_step, rank.at_look.steps);
    rank.at_look = rank.latest;
  }
  last_look_ns_ = now_ns;
  look.steps = median(steps);
  const double step_ns = look.step_ns = look.seconds * 1e9 / look.steps;
  for (const Rank& rank : ranks_) look.own.push_back(rank.own);
  look.communication = std::min(1.0, mean(in_collectives) / step_ns);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    std::vector<double> others = in_collectives;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(rank));
    look.waited.push_back((median(std::move(others)) - in_collectives[rank]) / step_ns);
  }
  looks_.push_back(std::move(look));
  if (looks_.size() > kMostLooks) looks_.pop_front();
  return true;
}

double LiveVerdict::mean_waited(std::size_t rank) const {
  double sum = 0;
  for (std::size_t i = looks_.size() - kLooks; i < looks_.size(); ++i) sum += looks_[i].waited[rank];
  return sum / static_cast<double>(kLooks);
}

std::vector<std::size_t> LiveVerdict::suspects() const {
  double most = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) most = std::max(most, mean_waited(rank));
  std::vector<std::size_t> found;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (most > 0 && mean_waited(rank) >= kLikeTheSlowest * most) found.push_back(rank);
  }
  return found;
}

bool LiveVerdict::are_named(const std::vector<std::size_t>& ranks) const {
  if (ranks.empty() || ranks.size() * 2 > ranks_.size()) return false;
  const auto count = static_cast<double>(kLooks);
  double sum = 0;
  double squares = 0;
  double slow = 0;
  for (std::size_t i = looks_.size() - kLooks; i < looks_.size(); ++i) {
    double waited = 0;
    for (const std::size_t rank : ranks) waited += looks_[i].waited[rank] / static_cast<double>(ranks.size());
    sum += waited;
    squares += waited * waited;
    slow += waited >= kNoCost;
  }
  const double mean_share = sum / count;
  const double error = std::sqrt(std::max(0.0, squares / count - mean_share * mean_share) / (count - 1));
  return mean_share >= kLeastCost && mean_share - kErrors * error >= kNoCost && slow >= kInMostLooks * count;
}

std::string LiveVerdict::words(const std::vector<std::size_t>& ranks) const {
  double share = 0;
  std::set<int> nodes;
  std::vector<int> numbers;
  for (const std::size_t rank : ranks) {
    share += mean_waited(rank) / static_cast<double>(ranks.size());
    nodes.insert(nodes_[rank]);
    numbers.push_back(static_cast<int>(rank));
  }
  std::uint64_t since = looks_.back().first_step;
  for (auto look = looks_.rbegin(); look != looks_.rend() && look->waited[ranks.front()] >= share / 2; ++look) since = look->first_step;
  const std::vector<int> on(nodes.begin(), nodes.end());
  const bool one = ranks.size() == 1;
  return fmt::format("rank{} {} ({} {}) {} the others up since step {}: they wait {:.0f}% of the time for {}{}", one ? "" : "s",
                     ranks_in_words(numbers), on.size() == 1 ? "node" : "nodes", ranks_in_words(on), one ? "holds" : "hold",
                     number(static_cast<double>(since), 1), 100 * share, one ? "it" : "them", why(ranks));
}

/// What the ranks do longer than the median other one, from the first of the last looks to the last.
std::string LiveVerdict::why(const std::vector<std::size_t>& ranks) const {
  const Look& first = looks_[looks_.size() - kLooks];
  std::vector<OwnTimeOfStep> named;
  std::vector<OwnTimeOfStep> others;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto own = own_time_of_step(first.own[rank], looks_.back().own[rank]);
    if (!own) return "";
    const bool is_named = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    (is_named ? named : others).push_back(*own);
  }
  double waited = 0;
  for (const std::size_t rank : ranks) waited += mean_waited(rank) / static_cast<double>(ranks.size());
  return why_in_words(named, others, waited * looks_.back().step_ns);
}

bool LiveVerdict::look(std::int64_t now_ns) {
  if (ranks_.size() < 2 || !take_look(now_ns) || looks_.size() < kLooks) return false;
  const std::vector<std::size_t> found = suspects();
  if (are_named(found)) {
    if (found == named_) return false;
    named_ = found;
    verdict_ = words(found);
    return true;
  }
  const bool is_over = !named_.empty() && std::all_of(named_.begin(), named_.end(), [&](std::size_t rank) { return mean_waited(rank) < kNoCost; });
  if (!is_over) return false;
  named_.clear();
  verdict_.clear();
  return true;
}

std::optional<double> LiveVerdict::steps_per_s() const {
  double steps = 0;
  double seconds = 0;
  for (std::size_t i = looks_.size() - std::min(looks_.size(), kLooks); i < looks_.size(); ++i) {
    steps += looks_[i].steps;
    seconds += looks_[i].seconds;
  }
  return seconds > 0 ? std::optional(steps / seconds) : std::nullopt;
}

std::optional<double> LiveVerdict::communication_share() const {
  double share = 0;
  double seconds = 0;
  for (std::size_t i = looks_.size() - std::min(looks_.size(), kLooks); i < looks_.size(); ++i) {
    share += looks_[i].communication * looks_[i].seconds;
    seconds += looks_[i].seconds;
  }
  return seconds > 0 ? std::optional(share / seconds) : std::nullopt;
}

}  // namespace ddbench::analyzer
