#include "analyzer/program/program_phases.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyzer/program/host_gaps.h"
#include "analyzer/program/phase_segments.h"

namespace ddbench::analyzer {
namespace {

using Marks = std::vector<PhaseMark>;

struct OptimizerUse {
  std::uint64_t loop = 0;
  std::size_t steps = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

/// The optimizers whose steps are those of the program.
std::set<std::uint64_t> leading_optimizers(const Marks& marks) {
  std::map<std::uint64_t, OptimizerUse> uses;
  for (const PhaseMark& mark : marks) {
    if (mark.phase != ProgramPhase::kOptimizer) continue;
    OptimizerUse& use = uses.try_emplace(mark.loop, OptimizerUse{mark.loop, 0, mark.begin_ns, 0}).first->second;
    ++use.steps;
    use.last_ns = mark.end_ns;
  }
  std::vector<OptimizerUse> by_steps;
  for (const auto& [loop, use] : uses) by_steps.push_back(use);
  std::sort(by_steps.begin(), by_steps.end(), [](const OptimizerUse& a, const OptimizerUse& b) {
    return a.steps != b.steps ? a.steps > b.steps : a.first_ns > b.first_ns;
  });
  std::vector<OptimizerUse> leading;
  for (const OptimizerUse& use : by_steps) {
    const bool takes_turns = std::any_of(leading.begin(), leading.end(), [&](const OptimizerUse& other) {
      return use.first_ns < other.last_ns && other.first_ns < use.last_ns;
    });
    if (!takes_turns) leading.push_back(use);
  }
  std::set<std::uint64_t> loops;
  for (const OptimizerUse& use : leading) loops.insert(use.loop);
  return loops;
}

bool is_batch(const PhaseMark& mark) {
  return mark.phase == ProgramPhase::kData && mark.samples > 0;
}

/// The last time at which the program did something other than training, from marks between two steps' ends
/// and before backward.
class Interruption {
 public:
  /// `evaluates_within`: most steps have a forward pass without gradients of their own, on the batch that they have: a teacher's, a
  /// generator's. Then one is an interruption only if another batch follows.
  explicit Interruption(bool evaluates_within) : evaluates_within_(evaluates_within) {}

  void look_at(const PhaseMark& mark) {
    switch (mark.phase) {
      case ProgramPhase::kEvaluation:
        evaluated_ns_ = mark.end_ns;
        if (!evaluates_within_) end_at(mark.end_ns);
        break;
      case ProgramPhase::kSave:
      case ProgramPhase::kEvalMode: end_at(mark.end_ns); break;
      case ProgramPhase::kTrainMode:
        if (end_ns_) end_at(mark.end_ns);
        break;
      case ProgramPhase::kData: batch(mark); break;
      default: break;
    }
  }

  /// Empty: nothing interrupted the training.
  std::optional<std::int64_t> end_ns() const {
    std::optional<std::int64_t> end_ns = end_ns_;
    for (const auto& [loop, use] : loaders_) {
      if (use.batches < 2) continue;
      // A loader that trains as well skipped batches.
      end_ns = std::max(end_ns.value_or(0), loop == last_loop_ ? use.last.begin_ns : use.last.end_ns);
    }
    return end_ns;
  }

 private:
  struct Use {
    int batches = 0;
    PhaseMark last;
  };

  void end_at(std::int64_t at_ns) { end_ns_ = std::max(end_ns_.value_or(0), at_ns); }
  void batch(const PhaseMark& mark) {
    if (!is_batch(mark)) return;
    if (evaluated_ns_) end_at(*evaluated_ns_);
    evaluated_ns_.reset();
    Use& use = loaders_[mark.loop];
    ++use.batches;
    use.last = mark;
    last_loop_ = mark.loop;
  }

  std::optional<std::int64_t> end_ns_;
  bool evaluates_within_;
  std::optional<std::int64_t> evaluated_ns_;  ///< since the last batch
  std::map<std::uint64_t, Use> loaders_;
  std::uint64_t last_loop_ = 0;
};

bool is_training(ProgramPhase phase) {
  return phase == ProgramPhase::kData || phase == ProgramPhase::kForward || phase == ProgramPhase::kBackward ||
         is_of_optimizer(phase);
}

/// Until when the gradients were discarded that the marks [first, last) computed first, as warming up does; else 0.
std::int64_t end_of_discarded(Marks::const_iterator first, Marks::const_iterator last) {
  std::int64_t end_ns = 0;
  bool has_gradients = false;
  for (auto mark = first; mark != last; ++mark) {
    if (mark->phase == ProgramPhase::kZeroGrad && has_gradients) end_ns = mark->end_ns;
    if (mark->phase == ProgramPhase::kZeroGrad || mark->phase == ProgramPhase::kOptimizer) has_gradients = false;
    if (mark->phase == ProgramPhase::kBackward) has_gradients = true;
  }
  return end_ns;
}

/// The marks of a step and of what was before it: [first, last), of which the last one ends it.
struct StepMarks {
  Marks::const_iterator first;
  Marks::const_iterator last;
};

std::vector<StepMarks> marks_by_step(const Marks& marks) {
  const std::set<std::uint64_t> leading = leading_optimizers(marks);
  std::vector<StepMarks> steps;
  auto first = marks.begin();
  for (auto mark = marks.begin(); mark != marks.end(); ++mark) {
    if (mark->phase != ProgramPhase::kOptimizer || !leading.contains(mark->loop)) continue;
    steps.push_back({first, std::next(mark)});
    first = std::next(mark);
  }
  return steps;
}

/// Whether a forward pass without gradients lies between its batch and its backward pass.
bool evaluates_own_batch(const StepMarks& step) {
  bool evaluated = false;
  for (auto mark = step.first; mark != step.last && mark->phase != ProgramPhase::kBackward; ++mark) {
    if (is_batch(*mark)) evaluated = false;
    if (mark->phase == ProgramPhase::kEvaluation) evaluated = true;
  }
  return evaluated;
}

/// The begin of a step.
std::int64_t begin_of_step(const StepMarks& step, std::optional<std::int64_t> before_ns, bool evaluates_within) {
  const auto [first, last] = step;
  Interruption interruption(evaluates_within);
  for (auto mark = first; mark != last; ++mark) {
    if (before_ns && mark->begin_ns < *before_ns) continue;  // inside of the optimizer's step before
    if (mark->phase == ProgramPhase::kBackward) break;
    interruption.look_at(*mark);
  }
  const auto interrupted_ns = interruption.end_ns();
  if (before_ns && !interrupted_ns) return *before_ns;
  const std::int64_t from_ns =
      std::max(interrupted_ns.value_or(0), before_ns ? *before_ns : end_of_discarded(first, last));
  const auto begin = std::find_if(step.first, step.last, [&](const PhaseMark& mark) {
    return mark.begin_ns >= from_ns && is_training(mark.phase);
  });
  return begin != step.last ? begin->begin_ns : from_ns;
}

void relabel(Span& span, ProgramPhase phase) {
  const bool computes = span.kind == SpanKind::kCompute;
  if (phase == ProgramPhase::kData && (computes || span.kind == SpanKind::kCopy)) span.kind = SpanKind::kDataWait;
  if (!computes) return;
  if (phase == ProgramPhase::kForward) span.kind = SpanKind::kForward;
  if (phase == ProgramPhase::kBackward) span.kind = SpanKind::kBackward;
  if (is_of_optimizer(phase)) span.kind = SpanKind::kOptimizer;
}

/// The index of the step that contains `at_ns`; none between steps.
std::optional<std::size_t> step_at(const ProgramWindows& steps, std::int64_t at_ns) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), at_ns,
                                      [](std::int64_t at, const ProgramWindow& step) { return at < step.begin_ns; });
  if (after == steps.begin() || at_ns >= std::prev(after)->end_ns) return std::nullopt;
  return static_cast<std::size_t>(after - steps.begin() - 1);
}

void add_samples(const Marks& marks, const ProgramWindows& steps, std::size_t first_counted, PhaseTotals& totals) {
  std::set<std::size_t> with_samples;
  for (const PhaseMark& mark : marks) {
    if (!is_batch(mark)) continue;
    const auto step = step_at(steps, mark.begin_ns);
    if (!step || *step < first_counted) continue;
    totals.samples += mark.samples;
    with_samples.insert(*step);
  }
  totals.steps_with_samples = with_samples.size();
}

}  // namespace

Marks take_phase_marks(ProgramRank& rank) {
  std::vector<std::optional<ProgramPhase>> phases;
  for (const std::string& name : rank.names) phases.push_back(phase_of(name));
  const auto phase_of_span = [&](const Span& span) {
    return span.kind == SpanKind::kHost && span.name_id < phases.size() ? phases[span.name_id] : std::nullopt;
  };
  Marks marks;
  for (const Span& span : rank.spans) {
    if (const auto phase = phase_of_span(span))
      marks.push_back({*phase, span.begin_ns, span.end_ns, span.bytes, span.correlation});
  }
  if (marks.empty()) return marks;
  std::erase_if(rank.spans, [&](const Span& span) { return phase_of_span(span).has_value(); });
  std::stable_sort(marks.begin(), marks.end(),
                   [](const PhaseMark& a, const PhaseMark& b) { return a.begin_ns < b.begin_ns; });
  return marks;
}

ProgramWindows steps_of_phases(const Marks& marks) {
  const std::vector<StepMarks> all = marks_by_step(marks);
  const auto evaluating = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), evaluates_own_batch));
  ProgramWindows steps;
  std::optional<std::int64_t> before_ns;
  for (const StepMarks& step : all) {
    const std::int64_t end_ns = std::prev(step.last)->end_ns;
    const std::int64_t begin_ns = begin_of_step(step, before_ns, 2 * evaluating > all.size());
    if (begin_ns < end_ns) steps.push_back({begin_ns, end_ns});
    before_ns = end_ns;
  }
  return steps;
}

PhaseTotals apply_phases(ProgramRank& rank, const Marks& marks, const ProgramWindows& steps,
                         std::size_t first_counted) {
  PhaseTotals totals;
  const std::vector<PhaseSegment> flat = phase_segments(marks, steps);
  for (Span& span : rank.spans) {
    if (span.lane == Lane::kDeviceCompute || span.lane == Lane::kDeviceCommunication) continue;
    const auto after = std::upper_bound(flat.begin(), flat.end(), span.begin_ns, [](std::int64_t at, const PhaseSegment& s) {
      return at < s.begin_ns;
    });
    if (after != flat.begin() && span.begin_ns < std::prev(after)->end_ns) relabel(span, std::prev(after)->phase);
  }
  std::optional<std::uint32_t> data_name;
  for (const PhaseSegment& segment : flat) {
    const auto step = step_at(steps, segment.begin_ns);
    if (step && *step >= first_counted)
      totals.ns[static_cast<std::size_t>(segment.phase)] += segment.end_ns - segment.begin_ns;
    if (segment.phase != ProgramPhase::kData) continue;
    if (!data_name) {
      data_name = static_cast<std::uint32_t>(rank.names.size());
      rank.names.emplace_back("data_wait");
    }
    Span wait;
    wait.begin_ns = segment.begin_ns;
    wait.end_ns = segment.end_ns;
    wait.kind = SpanKind::kDataWait;
    wait.name_id = *data_name;
    rank.spans.push_back(wait);
  }
  add_samples(marks, steps, first_counted, totals);
  totals.host_gap_ns = host_gaps(rank.spans, flat, steps, first_counted);
  return totals;
}

}  // namespace ddbench::analyzer
