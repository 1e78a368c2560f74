#include "analyzer/predict/record_step.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace ddbench::analyzer {
namespace {

bool on_main_lane(const Span& span) {
  return span.lane == Lane::kMain || span.lane == Lane::kDeviceCompute;
}

int bucket_of(const Span& span) {
  return span.bucket == kNoBucket ? -1 : static_cast<int>(span.bucket);
}

/// Kinds in order of priority where spans lie over each other; host lies under all.
constexpr std::size_t kLayers = 5;
std::size_t layer_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kForward:
    case SpanKind::kBackward:
    case SpanKind::kCompute: return 0;
    case SpanKind::kOptimizer: return 1;
    case SpanKind::kCopy: return 2;
    case SpanKind::kDataWait: return 3;
    default: return 4;
  }
}
WorkKind work_of(std::size_t layer) {
  constexpr std::array<WorkKind, kLayers> kWork = {WorkKind::kPass, WorkKind::kOptimizer, WorkKind::kHost,
                                                   WorkKind::kData, WorkKind::kHost};
  return kWork[layer];
}

/// What kernels of a GPU take however little they do: they are started and drained.
class LeastKernelTimes {
 public:
  explicit LeastKernelTimes(std::span<const Span> spans) {
    for (const Span& span : spans) {
      if (span.lane == Lane::kDeviceCompute && layer_of(span.kind) <= 1 && span.end_ns > span.begin_ns)
        until_.emplace_back(span.begin_ns, std::min(span.end_ns - span.begin_ns, kLeastKernelNs));
    }
    std::sort(until_.begin(), until_.end());
    for (std::size_t i = 1; i < until_.size(); ++i) until_[i].second += until_[i - 1].second;
  }
  /// Of those that begin in [from, to).
  double sum_ns(std::int64_t from, std::int64_t to) const { return static_cast<double>(before(to) - before(from)); }

 private:
  std::int64_t before(std::int64_t at_ns) const {
    const auto next = std::lower_bound(until_.begin(), until_.end(), std::pair{at_ns, std::int64_t{0}});
    return next == until_.begin() ? 0 : std::prev(next)->second;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> until_;  ///< begin, and the sum up to this one
};

/// A piece of the main lane's time: one kind of work, or no work.
struct Piece {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  bool busy = false;
  WorkKind work = WorkKind::kHost;
};

/// The main lane in pieces that follow each other without a gap.
std::vector<Piece> pieces_of(std::span<const Span> spans, std::int64_t begin_ns, std::int64_t end_ns) {
  struct Edge {
    std::int64_t at_ns;
    std::size_t layer;
    int change;
  };
  std::vector<Edge> edges;
  for (const Span& span : spans) {
    const bool counts = on_main_lane(span) && span.kind != SpanKind::kStep && span.kind != SpanKind::kCommunication &&
                        span.kind != SpanKind::kNcclEvent;
    const std::int64_t from = std::max(span.begin_ns, begin_ns);
    const std::int64_t to = std::min(span.end_ns, end_ns);
    if (!counts || to <= from) continue;
    edges.push_back({from, layer_of(span.kind), 1});
    edges.push_back({to, layer_of(span.kind), -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at_ns < b.at_ns; });
  std::vector<Piece> pieces;
  std::array<int, kLayers> open{};
  std::int64_t at_ns = begin_ns;
  const auto close = [&](std::int64_t until_ns) {
    if (until_ns <= at_ns) return;
    const auto top = std::find_if(open.begin(), open.end(), [](int count) { return count > 0; });
    const bool busy = top != open.end();
    const WorkKind work = busy ? work_of(static_cast<std::size_t>(top - open.begin())) : WorkKind::kHost;
    if (!pieces.empty() && pieces.back().busy == busy && pieces.back().work == work) {
      pieces.back().end_ns = until_ns;
    } else {
      pieces.push_back({at_ns, until_ns, busy, work});
    }
    at_ns = until_ns;
  };
  for (const Edge& edge : edges) {
    close(edge.at_ns);
    open[edge.layer] += edge.change;
  }
  close(end_ns);
  return pieces;
}

/// Length of the union of the backward pass's spans on the main lane.
std::int64_t backward_ns(std::span<const Span> spans, std::int64_t begin_ns, std::int64_t end_ns) {
  std::vector<std::pair<std::int64_t, std::int64_t>> stretches;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kBackward && on_main_lane(span))
      stretches.emplace_back(std::max(span.begin_ns, begin_ns), std::min(span.end_ns, end_ns));
  }
  std::sort(stretches.begin(), stretches.end());
  std::int64_t sum = 0;
  std::int64_t until = begin_ns;
  for (const auto& [from, to] : stretches) {
    sum += std::max<std::int64_t>(0, to - std::max(from, until));
    until = std::max(until, to);
  }
  return sum;
}

std::int64_t covered_ns(const std::vector<RankCollective>& collectives, std::int64_t from, std::int64_t to) {
  std::int64_t covered = 0;
  std::int64_t until = from;
  for (const RankCollective& one : collectives) {  // by begin
    const std::int64_t begin = std::max(one.begin_ns, until);
    const std::int64_t end = std::min(one.end_ns, to);
    if (end <= begin) continue;
    covered += end - begin;
    until = end;
  }
  return covered;
}

/// Writes the events of one rank's step.
class EventWriter {
 public:
  EventWriter(const std::vector<RankCollective>& collectives, const std::map<std::uint64_t, std::uint32_t>& place,
              const LeastKernelTimes& least, double slowdown, std::vector<WorkRange>* ranges)
      : collectives_(collectives), place_(place), least_(least), slowdown_(slowdown), ranges_(ranges), waited_(place.size()) {
    for (std::size_t i = 0; i < collectives.size(); ++i) by_ready_.push_back(i);
    std::stable_sort(by_ready_.begin(), by_ready_.end(), [&](std::size_t a, std::size_t b) {
      return collectives_[a].ready_ns < collectives_[b].ready_ns;
    });
  }

  void add(const Piece& piece) {
    if (piece.busy && piece.work == WorkKind::kOptimizer) wait_for_gradients(piece.begin_ns);
    if (piece.busy) {
      work(piece.begin_ns, piece.end_ns, piece.work);
    } else {
      gap(piece);
    }
  }

  RankStep finish(std::int64_t begin_ns, std::int64_t end_ns) {
    issue_until(end_ns);
    for (const RankCollective& one : collectives_) {
      if (one.end_ns <= end_ns) wait(one);
    }
    result_.duration_ns = static_cast<double>(end_ns - begin_ns);
    result_.start_delay_ns.assign(place_.size(), 0);
    result_.end_share.assign(place_.size(), 1);
    std::int64_t lane_free_ns = begin_ns;
    for (const RankCollective& one : collectives_) {
      const auto found = place_.find(one.correlation);
      const std::int64_t possible = std::max(one.ready_ns, lane_free_ns);
      if (found != place_.end())
        result_.start_delay_ns[found->second] = static_cast<double>(std::max<std::int64_t>(0, one.begin_ns - possible));
      lane_free_ns = std::max(lane_free_ns, one.end_ns);
    }
    return std::move(result_);
  }

 private:
  void push(const StepEvent& event) {
    const bool works = event.action == StepAction::kWork;
    if (works && event.ns <= 0) return;
    std::vector<StepEvent>& events = result_.events;
    if (works && !events.empty() && events.back().action == event.action && events.back().work == event.work) {
      events.back().ns += event.ns;
      events.back().fixed_ns += event.fixed_ns;
      return;
    }
    events.push_back(event);
  }

  /// Work on [from, to), with the collectives that became ready in it.
  void work(std::int64_t from, std::int64_t to, WorkKind kind) {
    while (next_ < by_ready_.size() && collectives_[by_ready_[next_]].ready_ns <= to) {
      const std::int64_t ready = std::max(from, collectives_[by_ready_[next_]].ready_ns);
      spend(from, ready, kind);
      from = ready;
      issue_next();
    }
    spend(from, to, kind);
  }

  void spend(std::int64_t from, std::int64_t to, WorkKind kind) {
    if (to <= from) return;
    double ns = static_cast<double>(to - from);
    const bool compute = kind == WorkKind::kPass || kind == WorkKind::kOptimizer;
    if (compute && slowdown_ > 0) {
      const auto beside = static_cast<double>(covered_ns(collectives_, from, to));
      ns += beside / (1 + slowdown_) - beside;
    }
    push({StepAction::kWork, kind, 0, ns, compute ? std::min(ns, least_.sum_ns(from, to)) : 0});
    if (ranges_ != nullptr) ranges_->push_back({static_cast<std::uint32_t>(result_.events.size() - 1), from, to});
  }

  void issue_next() {
    const auto found = place_.find(collectives_[by_ready_[next_++]].correlation);
    if (found != place_.end()) push({StepAction::kIssue, WorkKind::kHost, found->second, 0});
  }
  void issue_until(std::int64_t to) {
    while (next_ < by_ready_.size() && collectives_[by_ready_[next_]].ready_ns <= to) issue_next();
  }

  void wait(const RankCollective& one) {
    const auto found = place_.find(one.correlation);
    if (found == place_.end()) return;
    if (!std::exchange(waited_[found->second], true)) push({StepAction::kWait, WorkKind::kHost, found->second, 0});
  }
  void wait_for_gradients(std::int64_t until_ns) {
    issue_until(until_ns);
    for (const RankCollective& one : collectives_) {
      const bool reduces = one.function == "all_reduce" || one.function == "reduce_scatter";
      if (reduces && one.end_ns <= until_ns) wait(one);
    }
  }

  void gap(const Piece& piece) {
    const std::int64_t length = piece.end_ns - piece.begin_ns;
    const RankCollective* last = nullptr;
    for (const RankCollective& one : collectives_) {
      const bool ends_here = one.end_ns > piece.begin_ns && one.end_ns <= piece.end_ns;
      if (ends_here && place_.contains(one.correlation) && (last == nullptr || one.end_ns > last->end_ns)) last = &one;
    }
    if (last == nullptr || 2 * covered_ns(collectives_, piece.begin_ns, piece.end_ns) < length) {
      work(piece.begin_ns, piece.end_ns, WorkKind::kHost);
      return;
    }
    issue_until(last->end_ns);
    for (const RankCollective& one : collectives_) {
      if (one.end_ns <= last->end_ns) wait(one);
    }
    work(last->end_ns, piece.end_ns, WorkKind::kHost);
  }

  const std::vector<RankCollective>& collectives_;
  const std::map<std::uint64_t, std::uint32_t>& place_;
  const LeastKernelTimes& least_;
  double slowdown_;
  std::vector<WorkRange>* ranges_;
  std::vector<std::size_t> by_ready_;
  std::size_t next_ = 0;
  std::vector<char> waited_;  ///< by place
  RankStep result_;
};

}  // namespace

std::vector<RankCollective> rank_collectives(std::span<const Span> spans, std::span<const std::string> names,
                                             std::int64_t begin_ns, std::int64_t end_ns) {
  std::map<int, std::vector<std::int64_t>> bucket_ends;
  for (const Span& span : spans) {
    if (on_main_lane(span) && span.kind != SpanKind::kStep && span.kind != SpanKind::kCommunication &&
        bucket_of(span) >= 0 && span.begin_ns >= begin_ns && span.end_ns <= end_ns)
      bucket_ends[bucket_of(span)].push_back(span.end_ns);
  }
  std::vector<RankCollective> result;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kCommunication || span.correlation == 0) continue;
    if (span.begin_ns < begin_ns || span.begin_ns >= end_ns || span.end_ns < span.begin_ns) continue;
    RankCollective one;
    one.correlation = span.correlation;
    one.function = span.name_id < names.size() ? names[span.name_id] : "unknown";
    one.bytes = static_cast<double>(span.bytes);
    one.bucket = bucket_of(span);
    one.begin_ns = one.ready_ns = span.begin_ns;
    one.end_ns = span.end_ns;
    one.blocking = on_main_lane(span);
    if (const auto ends = bucket_ends.find(one.bucket); one.bucket >= 0 && ends != bucket_ends.end()) {
      std::int64_t last = begin_ns - 1;
      for (const std::int64_t end : ends->second) {
        if (end <= span.begin_ns) last = std::max(last, end);
      }
      if (last >= begin_ns) one.ready_ns = last;
    }
    result.push_back(std::move(one));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const RankCollective& a, const RankCollective& b) { return a.begin_ns < b.begin_ns; });
  std::map<int, std::int64_t> bucket_free_ns;  // a bucket's second collective has data of its first one
  for (RankCollective& one : result) {
    const auto earlier = bucket_free_ns.find(one.bucket);
    if (one.bucket >= 0 && earlier != bucket_free_ns.end() && one.ready_ns < earlier->second) one.ready_ns = one.begin_ns;
    bucket_free_ns[one.bucket] = one.end_ns;
  }
  for (std::size_t i = 1; i < result.size(); ++i)  // the lane takes them in this order
    result[i].ready_ns = std::max(result[i].ready_ns, result[i - 1].ready_ns);
  return result;
}

RankStep rank_step(std::span<const Span> spans, const std::vector<RankCollective>& collectives,
                   const std::map<std::uint64_t, std::uint32_t>& place, std::int64_t begin_ns, std::int64_t end_ns,
                   double slowdown, std::vector<WorkRange>* ranges) {
  const LeastKernelTimes least(spans);
  EventWriter writer(collectives, place, least, slowdown, ranges);
  for (const Piece& piece : pieces_of(spans, begin_ns, end_ns)) writer.add(piece);
  RankStep step = writer.finish(begin_ns, end_ns);
  step.backward_ns = static_cast<double>(backward_ns(spans, begin_ns, end_ns));
  return step;
}

}  // namespace ddbench::analyzer
