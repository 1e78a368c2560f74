#include "analyzer/program/phase_segments.h"

#include <algorithm>
#include <utility>

namespace ddbench::analyzer {
namespace {

bool has_length(ProgramPhase phase) {
  return phase == ProgramPhase::kData || phase == ProgramPhase::kBackward || is_of_optimizer(phase);
}

/// Finds the forward passes among the marks of the steps, which come by begin.
class SegmentSearch {
 public:
  void enter_step(std::int64_t begin_ns) { forward_ns_ = std::max(forward_ns_, begin_ns); }

  void take(const PhaseMark& mark) {
    if (mark.phase == ProgramPhase::kForward && mark.loop != kForwardPart) {
      marked_.push_back({mark.begin_ns, mark.end_ns, mark.phase});
      return;
    }
    if (mark.phase == ProgramPhase::kBackward) backward_at(mark.begin_ns);
    if (!has_length(mark.phase)) return;
    segments_.push_back({mark.begin_ns, mark.end_ns, mark.phase});
    if (mark.phase == ProgramPhase::kOptimizer) {  // a closure may train inside of it
      forward_ns_ = std::max(forward_ns_, mark.begin_ns);
    } else if (!is_of_optimizer(mark.phase)) {
      forward_ns_ = std::max(forward_ns_, mark.end_ns);
    }
  }

  /// By begin; of those that begin together the longest first.
  std::vector<PhaseSegment> end() {
    segments_.insert(segments_.end(), marked_.begin(), marked_.end());
    std::stable_sort(segments_.begin(), segments_.end(), [](const PhaseSegment& a, const PhaseSegment& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    return std::move(segments_);
  }

 private:
  void backward_at(std::int64_t begin_ns) {
    if (marked_.empty() && forward_ns_ < begin_ns) segments_.push_back({forward_ns_, begin_ns, ProgramPhase::kForward});
    for (PhaseSegment forward : marked_) {
      forward.end_ns = std::min(forward.end_ns, begin_ns);
      segments_.push_back(forward);
    }
    marked_.clear();
  }

  std::vector<PhaseSegment> segments_;
  std::vector<PhaseSegment> marked_;  // forward passes since the last backward pass
  std::int64_t forward_ns_ = 0;       // where one may begin
};

std::vector<PhaseSegment> segments_of(const std::vector<PhaseMark>& marks, const ProgramWindows& steps) {
  SegmentSearch search;
  auto step = steps.begin();
  for (const PhaseMark& mark : marks) {
    while (step != steps.end() && step->end_ns <= mark.begin_ns) ++step;
    if (step == steps.end()) break;
    search.enter_step(step->begin_ns);
    if (mark.begin_ns >= step->begin_ns) search.take(mark);
  }
  return search.end();
}

/// Disjoint: where segments nest, the inner one.
std::vector<PhaseSegment> flattened(const std::vector<PhaseSegment>& segments) {
  std::vector<PhaseSegment> flat;
  std::vector<PhaseSegment> open;
  std::int64_t at_ns = 0;
  const auto emit_until = [&](std::int64_t end_ns) {
    if (end_ns > at_ns) flat.push_back({at_ns, end_ns, open.back().phase});
    at_ns = std::max(at_ns, end_ns);
  };
  const auto close_until = [&](std::int64_t time_ns) {
    while (!open.empty() && open.back().end_ns <= time_ns) {
      emit_until(open.back().end_ns);
      open.pop_back();
    }
  };
  for (const PhaseSegment& segment : segments) {
    close_until(segment.begin_ns);
    if (!open.empty()) emit_until(segment.begin_ns);
    at_ns = std::max(at_ns, segment.begin_ns);
    open.push_back(segment);
  }
  while (!open.empty()) {
    emit_until(open.back().end_ns);
    open.pop_back();
  }
  return flat;
}

}  // namespace

std::vector<PhaseSegment> phase_segments(const std::vector<PhaseMark>& marks, const ProgramWindows& steps) {
  return flattened(segments_of(marks, steps));
}

}  // namespace ddbench::analyzer
