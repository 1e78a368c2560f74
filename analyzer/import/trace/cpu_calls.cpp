#include "analyzer/import/trace/cpu_calls.h"

#include <algorithm>
#include <tuple>

namespace ddbench::imports {
namespace {

struct Interval {
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

/// Adds to intervals that are ascending and disjoint; `from` begins no earlier than the last.
void unite(std::vector<Interval>& intervals, const CpuCall& from) {
  if (from.end_ns <= from.begin_ns) return;
  if (!intervals.empty() && from.begin_ns <= intervals.back().end_ns) {
    intervals.back().end_ns = std::max(intervals.back().end_ns, from.end_ns);
  } else {
    intervals.push_back({from.begin_ns, from.end_ns});
  }
}

Span span_of(std::int64_t begin_ns, std::int64_t end_ns, SpanKind kind) {
  Span span;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.kind = kind;
  return span;
}

/// Both ascending and disjoint.
void subtract(const std::vector<Interval>& from, const std::vector<Interval>& what, std::vector<Span>& to) {
  auto hole = what.begin();
  for (const Interval& interval : from) {
    std::int64_t begin_ns = interval.begin_ns;
    while (hole != what.end() && hole->end_ns <= begin_ns) ++hole;
    for (auto at = hole; at != what.end() && at->begin_ns < interval.end_ns; ++at) {
      if (at->begin_ns > begin_ns) to.push_back(span_of(begin_ns, at->begin_ns, SpanKind::kHost));
      begin_ns = std::max(begin_ns, at->end_ns);
    }
    if (begin_ns < interval.end_ns) to.push_back(span_of(begin_ns, interval.end_ns, SpanKind::kHost));
  }
}

bool is_torch_operator(CallKind kind) {
  return kind == CallKind::kOperator || kind == CallKind::kCopyOperator;
}

bool is_host_work(CallKind kind) {
  return is_torch_operator(kind) || kind == CallKind::kOther || kind == CallKind::kBackward ||
         kind == CallKind::kLaunch;
}

/// Goes through the calls of one thread.
class ThreadWalk {
 public:
  ThreadWalk(const std::unordered_set<std::uint64_t>& backward_ids, CallTree& tree)
      : backward_ids_(backward_ids), tree_(tree) {}

  void add(const CpuCall& call) {
    while (!open_.empty() && open_.back().end_ns <= call.begin_ns) open_.pop_back();
    Frame frame = open_.empty() ? Frame{} : open_.back();
    frame.end_ns = call.end_ns;
    frame.phase = phase_of(call, frame.phase);
    if (call.kind == CallKind::kCollective) frame.collective = call.id;
    if (call.kind == CallKind::kLaunch && call.id != 0)
      tree_.launches.push_back({call.id - 1, call.begin_ns, frame.collective, frame.phase});
    if (is_torch_operator(call.kind) && !frame.in_operator) add_operator(call, frame.phase);
    frame.in_operator = frame.in_operator || is_torch_operator(call.kind);
    if (call.kind == CallKind::kDataWait)
      tree_.data_waits.push_back(span_of(call.begin_ns, call.end_ns, SpanKind::kDataWait));
    if (is_host_work(call.kind)) unite(work_, call);
    if (call.kind == CallKind::kWait) unite(waits_, call);
    has_backward_ = has_backward_ || call.kind == CallKind::kBackward;
    open_.push_back(frame);
  }

  void end(bool holds_steps) {
    if (holds_steps || has_backward_) subtract(work_, waits_, tree_.host);
    work_.clear();
    waits_.clear();
    open_.clear();
    has_backward_ = false;
  }

 private:
  struct Frame {
    std::int64_t end_ns = 0;
    std::uint64_t collective = 0;
    SpanKind phase = SpanKind::kCompute;
    bool in_operator = false;
  };

  SpanKind phase_of(const CpuCall& call, SpanKind around) const {
    if (call.kind == CallKind::kBackward) return SpanKind::kBackward;
    if (call.kind == CallKind::kOptimizer) return SpanKind::kOptimizer;
    if (around == SpanKind::kBackward) return around;
    const bool is_differentiated = (is_torch_operator(call.kind) || call.kind == CallKind::kOther) && call.id != 0 &&
                                   backward_ids_.contains(call.id);
    return call.kind == CallKind::kForward || is_differentiated ? SpanKind::kForward : around;
  }

  void add_operator(const CpuCall& call, SpanKind phase) {
    Span span = span_of(call.begin_ns, call.end_ns, call.kind == CallKind::kOperator ? phase : SpanKind::kCopy);
    span.name_id = call.name_id;
    tree_.operators.push_back(span);
  }

  const std::unordered_set<std::uint64_t>& backward_ids_;
  CallTree& tree_;
  std::vector<Frame> open_;
  std::vector<Interval> work_;
  std::vector<Interval> waits_;
  bool has_backward_ = false;
};

}  // namespace

CallTree build_call_tree(std::vector<CpuCall>& calls, const std::unordered_set<std::uint64_t>& backward_ids,
                         std::unordered_set<std::uint16_t> step_threads) {
  const auto key = [](const CpuCall& call) { return std::tuple(call.thread, call.begin_ns, -call.end_ns); };
  // What is as long as what it lies in comes after it, as the profiler wrote it.
  std::stable_sort(calls.begin(), calls.end(), [&](const CpuCall& a, const CpuCall& b) { return key(a) < key(b); });
  CallTree tree;
  ThreadWalk walk(backward_ids, tree);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    walk.add(calls[i]);
    if (i + 1 == calls.size() || calls[i + 1].thread != calls[i].thread) walk.end(step_threads.contains(calls[i].thread));
  }
  std::sort(tree.launches.begin(), tree.launches.end(),
            [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; });
  return tree;
}

}  // namespace ddbench::imports
