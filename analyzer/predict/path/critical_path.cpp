#include "analyzer/predict/path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/predict/path/block_slack.h"
#include "analyzer/predict/recording.h"
#include "analyzer/predict/replay.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostEvents = 3'000'000;
constexpr std::size_t kMostOperators = 40;
constexpr const char* kStart = "start of collectives";
constexpr const char* kTransfer = "transfer";
constexpr std::array<const char*, kWorkKinds> kWorkNames = {"compute", "optimizer", "data wait", "host"};

/// One row: sums over steps, and of the step that is being added.
struct Row {
  PathShare sum;
  double path_ns = 0;
  double slack_ns = std::numeric_limits<double>::infinity();
  bool seen = false;

  void add(double path, double slack) {
    seen = true;
    path_ns += path;
    slack_ns = std::min(slack_ns, slack);
  }
  /// What a step does not have may take as long as a step.
  void end_step(double most_slack_ns) {
    sum.path_ns += path_ns;
    sum.slack_ns += seen ? std::clamp(slack_ns, 0.0, most_slack_ns) : most_slack_ns;
    sum.steps_on_path += path_ns > 0 ? 1 : 0;
    *this = {std::move(sum)};
  }
};

/// A row for each key, in the keys' order.
class Rows {
 public:
  using Key = std::pair<std::uint32_t, int>;

  Row& at(const Key& key) { return rows_[key]; }
  void end_step(double most_slack_ns) {
    for (auto& [key, row] : rows_) row.end_step(most_slack_ns);
  }
  /// Rows that began late have slack of a step for the steps before.
  template <typename Name>
  std::vector<PathShare> means(double steps, const Name& name) const {
    std::vector<PathShare> result;
    for (const auto& [key, row] : rows_) {
      PathShare share = row.sum;
      share.name = name(key.first);
      share.rank = key.second;
      share.path_ns /= steps;
      share.slack_ns /= steps;
      share.steps_on_path /= steps;
      result.push_back(std::move(share));
    }
    return result;
  }

 private:
  std::map<Key, Row> rows_;
};

class Summing {
 public:
  explicit Summing(const StepRecording& recording) : recording_(recording) {}

  CriticalPath path() {
    CriticalPath result;
    std::size_t events = 0;
    double elapsed = 0;
    for (const auto& [first, last] : blocks_of(recording_)) {
      std::size_t until = first;
      while (until < last && events < kMostEvents) events += events_of(recording_.steps[until++]);
      if (until == first) break;
      const BlockSlack block = block_slack(recording_, first, until);
      elapsed += block.elapsed_ns;
      const double mean = block.elapsed_ns / static_cast<double>(until - first);
      for (std::size_t i = first; i < until; ++i) add(recording_.steps[i], block.steps[i - first], mean);
      result.steps += until - first;
    }
    const auto steps = static_cast<double>(std::max<std::size_t>(result.steps, 1));
    result.step_ns = elapsed / steps;
    if (result.steps < recording_.steps.size())
      result.notes.push_back(fmt::format("the critical path is that of the first {} of {} steps", result.steps, recording_.steps.size()));
    write(steps, result);
    return result;
  }

 private:
  static std::size_t events_of(const RecordedStep& step) {
    std::size_t events = 0;
    for (const RankStep& rank : step.ranks) events += rank.events.size() + rank.operators.size();
    return events;
  }

  int number_of(std::size_t r) const { return r < recording_.ranks.size() ? recording_.ranks[r] : static_cast<int>(r); }

  void add(const RecordedStep& step, const StepSlack& slack, double mean_ns) {
    for (std::size_t r = 0; r < step.ranks.size(); ++r) add_rank(number_of(r), step.ranks[r], slack.work[r]);
    for (std::uint32_t c = 0; c < recording_.collectives.size(); ++c) {
      const Slack& transfer = slack.transfers[c];
      collectives_.at({c, -1}).add(transfer.path_ns, transfer.slack_ns);
      parts_.at({kWorkKinds + 1, -1}).add(transfer.path_ns, 0);
      for (const std::vector<Slack>& delays : slack.delays) parts_.at({kWorkKinds, -1}).add(delays[c].path_ns, 0);
    }
    for (Rows* rows : {&parts_, &ranks_, &collectives_, &operators_}) rows->end_step(mean_ns);
  }

  void add_rank(int rank, const RankStep& step, const std::vector<Slack>& work) {
    std::vector<double> named_ns(work.size());
    for (const StepOperator& one : step.operators) named_ns[one.event] += one.ns;
    for (std::size_t e = 0; e < work.size(); ++e) {
      if (step.events[e].action != StepAction::kWork) continue;
      parts_.at({static_cast<std::uint32_t>(step.events[e].work), -1}).add(work[e].path_ns, 0);
      ranks_.at({0, rank}).add(work[e].path_ns, work[e].slack_ns);
    }
    for (const StepOperator& one : step.operators) {
      const double whole = std::max(named_ns[one.event], work[one.event].ns);
      operators_.at({one.name, rank}).add(work[one.event].path_ns * one.ns / whole, work[one.event].slack_ns);
    }
  }

  void write(double steps, CriticalPath& result) const {
    result.parts = parts_.means(steps, [](std::uint32_t kind) {
      return kind < kWorkKinds ? kWorkNames[kind] : kind == kWorkKinds ? kStart : kTransfer;
    });
    for (PathShare& part : result.parts) part.slack_ns = 0;
    result.ranks = ranks_.means(steps, [](std::uint32_t) { return ""; });
    for (PathShare& rank : result.ranks) rank.name = fmt::format("rank {}", rank.rank);
    result.collectives = collectives_.means(steps, [&](std::uint32_t c) {
      const StepCollective& one = recording_.collectives[c];
      return one.bucket >= 0 ? fmt::format("{} of bucket {}", one.function, one.bucket) : fmt::format("{} {}", one.function, c);
    });
    result.operators = operators_.means(steps, [&](std::uint32_t name) { return recording_.operator_names[name]; });
    std::stable_sort(result.operators.begin(), result.operators.end(), [](const PathShare& a, const PathShare& b) {
      return a.path_ns != b.path_ns ? a.path_ns > b.path_ns : a.slack_ns < b.slack_ns;
    });
    if (result.operators.size() <= kMostOperators) return;
    result.notes.push_back(fmt::format("{} operators of ranks with less of the path are left out", result.operators.size() - kMostOperators));
    result.operators.resize(kMostOperators);
  }

  const StepRecording& recording_;
  Rows parts_;
  Rows ranks_;
  Rows collectives_;
  Rows operators_;
};

}  // namespace

CriticalPath critical_path(const StepRecording& recording) {
  return Summing(recording).path();
}

Measured<CriticalPath> critical_path_of(const store::RunStore& store, const store::RunRecord& run, std::size_t most_steps) {
  const Measured<StepRecording> recording = recording_of(store, run, most_steps, RecordedDetail::kOperators);
  if (!recording) return Measured<CriticalPath>::missing(recording.reason());
  CriticalPath path = critical_path(*recording);
  path.notes.insert(path.notes.begin(), recording->notes.begin(), recording->notes.end());
  return path;
}

}  // namespace ddbench::analyzer
