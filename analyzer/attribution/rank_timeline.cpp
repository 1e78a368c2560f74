#include "analyzer/attribution/rank_timeline.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ddbench::analyzer {
namespace {

constexpr std::uint64_t kLongestSpan_ns = std::uint64_t{24} * 3600 * 1'000'000'000;

/// Calls visit(window) for each window that the span lies in.
template <typename Visit>
void visit_windows(const Span& span, const std::vector<StepWindow>& windows, std::size_t& hint, Visit visit) {
  if (span.kind == SpanKind::kStep || span.end_ns <= span.begin_ns) return;
  // Spans come nearly in order of time: mostly the last span's window, or the next, is this one's.
  const bool hint_holds = hint < windows.size() && windows[hint].begin_ns <= span.begin_ns &&
                          span.begin_ns < windows[hint].end_ns;
  if (!hint_holds) {
    const auto found = std::partition_point(windows.begin(), windows.end(), [&](const StepWindow& window) {
      return window.end_ns <= span.begin_ns;
    });
    hint = static_cast<std::size_t>(found - windows.begin());
  }
  for (std::size_t at = hint; at < windows.size() && windows[at].begin_ns < span.end_ns; ++at) visit(at);
}

}  // namespace

bool plausible_step(const Span& span) noexcept {
  const auto length_ns = static_cast<std::uint64_t>(span.end_ns) - static_cast<std::uint64_t>(span.begin_ns);
  return span.end_ns >= span.begin_ns && length_ns <= kLongestSpan_ns && span.step != kNoStep;
}

RankTimeline::RankTimeline(std::vector<Span> spans) : spans_(std::move(spans)) {
  find_windows();
  assign_spans();
}

void RankTimeline::find_windows() {
  for (const Span& span : spans_) {
    if (span.kind != SpanKind::kStep || !plausible_step(span)) continue;
    windows_.push_back({span.step, span.begin_ns, span.end_ns, span.bucket == kNoBucket});
  }
  std::sort(windows_.begin(), windows_.end(), [](const StepWindow& a, const StepWindow& b) {
    return std::pair(a.begin_ns, a.end_ns) < std::pair(b.begin_ns, b.end_ns);
  });
}

void RankTimeline::assign_spans() {
  first_of_window_.assign(windows_.size() + 1, 0);
  std::size_t hint = 0;
  for (const Span& span : spans_) {
    visit_windows(span, windows_, hint, [&](std::size_t window) { ++first_of_window_[window + 1]; });
  }
  std::partial_sum(first_of_window_.begin(), first_of_window_.end(), first_of_window_.begin());
  indices_.resize(first_of_window_.back());
  std::vector<std::size_t> next(first_of_window_.begin(), first_of_window_.end() - 1);
  hint = 0;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    visit_windows(spans_[i], windows_, hint,
                  [&](std::size_t window) { indices_[next[window]++] = static_cast<std::uint32_t>(i); });
  }
}

std::size_t RankTimeline::damaged(StepRange range) const {
  const auto count = std::count_if(spans_.begin(), spans_.end(), [&](const Span& span) {
    const bool sound = span.kind == SpanKind::kStep ? plausible_step(span) : span.end_ns >= span.begin_ns;
    return range.holds(span.step) && !sound;
  });
  return static_cast<std::size_t>(count);
}

std::span<const Span> RankTimeline::spans_in(std::size_t window) {
  gathered_.clear();
  for (std::size_t at = first_of_window_[window]; at < first_of_window_[window + 1]; ++at) {
    gathered_.push_back(spans_[indices_[at]]);
  }
  return gathered_;
}

}  // namespace ddbench::analyzer
