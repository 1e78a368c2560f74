#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/attribution/step_range.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// One kStep span.
struct StepWindow {
  std::uint32_t step = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  bool probes_on = true;
};

/// Whether a span of kind kStep can have been one: it has a number and took no more than a day.
bool plausible_step(const Span& span) noexcept;

/// The spans of one rank over some of its steps, grouped by the steps in which they lie in time: a span that
/// extends over a step's end belongs to both steps.
class RankTimeline {
 public:
  explicit RankTimeline(std::vector<Span> spans);

  const std::vector<StepWindow>& windows() const noexcept { return windows_; }  ///< in order of time
  /// Valid until the next call.
  std::span<const Span> spans_in(std::size_t window);
  std::span<const Span> spans() const noexcept { return spans_; }
  /// Spans marked with a step of `range` that end before they begin, and steps that cannot have been.
  std::size_t damaged(StepRange range) const;

 private:
  void find_windows();
  void assign_spans();

  std::vector<Span> spans_;
  std::vector<StepWindow> windows_;
  std::vector<std::size_t> first_of_window_;  ///< into indices_; one more than windows
  std::vector<std::uint32_t> indices_;        ///< into spans_, window after window
  std::vector<Span> gathered_;
};

}  // namespace ddbench::analyzer
