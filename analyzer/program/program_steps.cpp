#include "analyzer/program/program_steps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/program/learning_rates.h"
#include "analyzer/program/pattern_steps.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

using Window = ProgramWindow;
using Windows = ProgramWindows;  // one a step

void cut_to_fewest(std::vector<Windows>& windows) {
  std::size_t fewest = ~std::size_t{0};
  for (const Windows& of_rank : windows) fewest = std::min(fewest, of_rank.size());
  for (Windows& of_rank : windows) of_rank.resize(fewest);
}

/// The steps that the program marked, as many as each rank has; the marks themselves are taken out.
std::vector<Windows> take_marked_steps(std::vector<ProgramRank>& ranks) {
  std::vector<Windows> windows(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Span& span : ranks[rank].spans) {
      if (span.kind == SpanKind::kStep) windows[rank].push_back({span.begin_ns, span.end_ns});
    }
    std::sort(windows[rank].begin(), windows[rank].end(),
              [](const Window& a, const Window& b) { return a.begin_ns < b.begin_ns; });
    std::erase_if(ranks[rank].spans, [](const Span& span) { return span.kind == SpanKind::kStep; });
  }
  cut_to_fewest(windows);
  return windows;
}

std::uint32_t name_id(ProgramRank& rank, const std::string& name) {
  const auto found = std::find(rank.names.begin(), rank.names.end(), name);
  if (found != rank.names.end()) return static_cast<std::uint32_t>(found - rank.names.begin());
  rank.names.push_back(name);
  return static_cast<std::uint32_t>(rank.names.size() - 1);
}

/// Marks spans with the step in which they begin, and adds the steps. Spans are sorted by time afterwards.
void apply(ProgramRank& rank, const Windows& windows, std::uint32_t first_step, HostTime host) {
  for (Span& span : rank.spans) {
    const auto after =
        std::upper_bound(windows.begin(), windows.end(), span.begin_ns,
                         [](std::int64_t at, const Window& window) { return at < window.begin_ns; });
    const bool inside = after != windows.begin() && span.begin_ns < std::prev(after)->end_ns;
    span.step =
        inside ? first_step + static_cast<std::uint32_t>(std::prev(after) - windows.begin()) : kNoStep;
  }
  const std::uint32_t step_name = name_id(rank, "step");
  const std::uint32_t host_name = host == HostTime::kRest ? name_id(rank, "host") : 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Span span;
    span.begin_ns = windows[i].begin_ns;
    span.end_ns = windows[i].end_ns;
    span.step = first_step + static_cast<std::uint32_t>(i);
    span.kind = SpanKind::kHost;
    span.name_id = host_name;
    if (host == HostTime::kRest) rank.spans.push_back(span);
    span.kind = SpanKind::kStep;
    span.name_id = step_name;
    rank.spans.push_back(span);
  }
  std::stable_sort(rank.spans.begin(), rank.spans.end(),
                   [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
}

Windows whole_window(const ProgramRank& rank) {
  if (rank.spans.empty()) return {};
  std::int64_t end_ns = 0;
  for (const Span& span : rank.spans) end_ns = std::max(end_ns, span.end_ns);
  return {{begin_of_spans(rank), end_ns}};
}

std::int64_t time_between(const Windows& windows) {
  std::int64_t outside_ns = 0;
  for (std::size_t i = 1; i < windows.size(); ++i) {
    const std::int64_t pause_ns = std::max<std::int64_t>(0, windows[i].begin_ns - windows[i - 1].end_ns);
    outside_ns = add_ns(outside_ns, pause_ns);
  }
  return outside_ns;
}

bool has_device(const ProgramRank& rank) {
  return std::any_of(rank.spans.begin(), rank.spans.end(), [](const Span& span) {
    return span.lane == Lane::kDeviceCompute || span.lane == Lane::kDeviceCommunication;
  });
}

/// Drops the steps outside `kept`, by rank 0's clock, and all spans outside the remaining steps.
void keep_only(const KeptSteps& kept, std::vector<ProgramRank>& ranks, std::vector<Windows>& windows) {
  const Windows& of_first = windows.front();
  const std::size_t begin = std::min<std::size_t>(kept.skip, of_first.size());
  std::size_t end = of_first.size();
  if (kept.measure > 0) end = std::min(end, begin + kept.measure);
  if (kept.duration_ns > 0) {
    const auto is_over = [&](std::size_t i) { return of_first[i].end_ns - of_first[begin].begin_ns > kept.duration_ns; };
    // The step in which it ends is one of them, as the program measures it.
    std::size_t last = begin;
    while (last < end && !is_over(last)) ++last;
    end = std::min(end, last + 1);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Windows& of_rank = windows[rank];
    of_rank = Windows(of_rank.begin() + static_cast<std::ptrdiff_t>(begin), of_rank.begin() + static_cast<std::ptrdiff_t>(end));
    const Window whole = of_rank.empty() ? Window{} : Window{of_rank.front().begin_ns, of_rank.back().end_ns};
    std::erase_if(ranks[rank].spans, [&](const Span& span) {
      return (span.begin_ns < whole.begin_ns && span.end_ns <= whole.begin_ns) || span.begin_ns >= whole.end_ns;
    });
  }
}

ProgramPhases mean_phases(const std::vector<PhaseTotals>& of_ranks, std::size_t steps) {
  ProgramPhases mean;
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(steps, 1) * of_ranks.size());
  const auto add = [&](std::int64_t& to_ns, const PhaseTotals& totals, ProgramPhase phase) {
    to_ns += totals.ns[static_cast<std::size_t>(phase)] / count;
  };
  bool samples_known = steps > 0;
  for (const PhaseTotals& totals : of_ranks) {
    add(mean.data_ns, totals, ProgramPhase::kData);
    add(mean.forward_ns, totals, ProgramPhase::kForward);
    add(mean.backward_ns, totals, ProgramPhase::kBackward);
    for (const ProgramPhase phase : {ProgramPhase::kOptimizer, ProgramPhase::kZeroGrad, ProgramPhase::kOptimizerCall})
      add(mean.optimizer_ns, totals, phase);
    for (std::size_t gap = 0; gap < mean.host_gap_ns.size(); ++gap) mean.host_gap_ns[gap] += totals.host_gap_ns[gap] / count;
    samples_known &= 10 * totals.steps_with_samples >= 9 * steps;
    mean.samples += static_cast<double>(totals.samples) / static_cast<double>(std::max<std::size_t>(steps, 1));
  }
  if (!samples_known) mean.samples = 0;
  return mean;
}

/// Finds the steps of a program: one list of windows a rank.
class StepSearch {
 public:
  explicit StepSearch(std::vector<ProgramRank>& ranks) : ranks_(ranks) {
    for (ProgramRank& rank : ranks) marks_.push_back(take_phase_marks(rank));
  }

  std::vector<Windows> find(ProgramSteps& result) {
    std::vector<Windows> windows = take_marked_steps(ranks_);
    if (!windows.front().empty()) return found(StepSource::kMarker, result, std::move(windows));
    const bool late = has_device(ranks_.front());
    if (std::vector<Windows> steps = late ? windows : of_phases(); !steps.front().empty())
      return found(StepSource::kOptimizer, result, std::move(steps));
    if (std::vector<Windows> steps = of_pattern(result); !steps.empty() && !steps.front().empty())
      return found(StepSource::kPattern, result, std::move(steps));
    if (std::vector<Windows> steps = late ? of_phases() : windows; !steps.front().empty())
      return found(StepSource::kOptimizer, result, std::move(steps));
    return windows;
  }

  void find_learning_rates(const std::vector<Windows>& windows, ProgramSteps& result) const {
    result.learning_rates = learning_rates(marks_.front(), windows.front());
    const bool known = std::any_of(result.learning_rates.begin(), result.learning_rates.end(), [](const auto& rate) { return rate.has_value(); });
    if (!known) result.learning_rates.clear();
  }

  /// For steps `warmup` and later; after find_learning_rates().
  void apply_phases_to(const std::vector<Windows>& windows, int warmup, ProgramSteps& result) {
    // A mark that only reports a learning rate says nothing of phases.
    for (std::vector<PhaseMark>& of_rank : marks_)
      std::erase_if(of_rank, [](const PhaseMark& mark) { return mark.phase == ProgramPhase::kOptimizerCall && mark.begin_ns == mark.end_ns; });
    if (windows.front().empty() || std::any_of(marks_.begin(), marks_.end(), [](const auto& of_rank) { return of_rank.empty(); }))
      return;
    const std::size_t steps = windows.front().size();
    const std::size_t first = std::min(static_cast<std::size_t>(std::max(warmup, 0)), steps);
    std::vector<PhaseTotals> totals;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      totals.push_back(apply_phases(ranks_[rank], marks_[rank], windows[rank], first));
    result.phases = mean_phases(totals, steps - first);
  }

 private:
  static std::vector<Windows> found(StepSource source, ProgramSteps& result, std::vector<Windows> windows) {
    result.source = source;
    if (source != StepSource::kPattern) result.confidence = 1;
    result.found = static_cast<std::uint32_t>(windows.front().size());
    return windows;
  }

  std::vector<Windows> of_phases() const {
    std::vector<Windows> windows;
    for (const std::vector<PhaseMark>& marks : marks_) windows.push_back(steps_of_phases(marks));
    cut_to_fewest(windows);
    return windows;
  }

  std::vector<Windows> of_pattern(ProgramSteps& result) const {
    PatternSteps steps = steps_of_pattern(ranks_);
    if (steps.windows.empty() || steps.windows.front().empty()) return {};
    result.confidence = steps.confidence;
    result.pattern = std::move(steps.pattern);
    return std::move(steps.windows);
  }

  std::vector<ProgramRank>& ranks_;
  std::vector<std::vector<PhaseMark>> marks_;
};

}  // namespace

const char* name_of(StepSource source) noexcept {
  switch (source) {
    case StepSource::kMarker: return "marker";
    case StepSource::kPattern: return "pattern";
    case StepSource::kWindow: return "window";
    case StepSource::kOptimizer: return "optimizer";
  }
  return "";
}

ProgramSteps assign_program_steps(std::vector<ProgramRank>& ranks, int warmup, HostTime host, const KeptSteps& kept) {
  ProgramSteps result;
  StepSearch search(ranks);
  std::vector<Windows> windows = search.find(result);
  std::uint32_t first_step = 0;
  if (result.found > 0) {
    if (kept.skip > 0 || kept.measure > 0 || kept.duration_ns > 0) keep_only(kept, ranks, windows);
    search.find_learning_rates(windows, result);
    search.apply_phases_to(windows, warmup, result);
  } else {
    first_step = static_cast<std::uint32_t>(warmup);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) windows[rank] = whole_window(ranks[rank]);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) apply(ranks[rank], windows[rank], first_step, host);
  result.steps = static_cast<std::uint32_t>(windows.front().size());
  result.outside_ns = time_between(windows.front());
  return result;
}

}  // namespace ddbench::analyzer
