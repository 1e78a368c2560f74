#include "analyzer/predict/step_operators.h"

#include <algorithm>
#include <cstdint>

namespace ddbench::analyzer {
namespace {

/// A stretch in which one span is the innermost.
struct Stretch {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t name = 0;
};

bool is_operator(const Span& span) {
  const bool main = span.lane == Lane::kMain || span.lane == Lane::kDeviceCompute;
  return main && span.kind != SpanKind::kStep && span.kind != SpanKind::kCommunication &&
         span.kind != SpanKind::kNcclEvent && span.end_ns > span.begin_ns;
}

/// A span that begins within another one and ends after it counts from that one's end on.
std::vector<Stretch> innermost(std::span<const Span> spans) {
  std::vector<const Span*> by_begin;
  for (const Span& span : spans) {
    if (is_operator(span)) by_begin.push_back(&span);
  }
  std::stable_sort(by_begin.begin(), by_begin.end(), [](const Span* a, const Span* b) {
    return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->end_ns > b->end_ns;
  });
  std::vector<Stretch> stretches;
  std::vector<const Span*> open;
  std::int64_t at_ns = 0;
  const auto close = [&](std::int64_t until_ns) {
    while (!open.empty() && at_ns < until_ns) {
      const Span& top = *open.back();
      const std::int64_t end = std::min(top.end_ns, until_ns);
      if (end > at_ns) stretches.push_back({at_ns, end, top.name_id});
      at_ns = std::max(at_ns, end);
      if (top.end_ns <= at_ns) open.pop_back();
    }
  };
  for (const Span* span : by_begin) {
    close(span->begin_ns);
    at_ns = span->begin_ns;
    open.push_back(span);
  }
  if (!by_begin.empty()) close(INT64_MAX);
  return stretches;
}

}  // namespace

std::vector<StepOperator> operators_in(std::span<const Span> spans, const std::vector<WorkRange>& ranges) {
  std::vector<StepOperator> result;
  if (ranges.empty()) return result;
  const std::vector<Stretch> stretches = innermost(spans);
  std::size_t first = 0;
  for (const WorkRange& range : ranges) {
    while (first < stretches.size() && stretches[first].end_ns <= range.begin_ns) ++first;
    for (std::size_t i = first; i < stretches.size() && stretches[i].begin_ns < range.end_ns; ++i) {
      const std::int64_t begin = std::max(stretches[i].begin_ns, range.begin_ns);
      const std::int64_t end = std::min(stretches[i].end_ns, range.end_ns);
      const auto ns = static_cast<double>(end - begin);
      if (!result.empty() && result.back().event == range.event && result.back().name == stretches[i].name) {
        result.back().ns += ns;
      } else {
        result.push_back({stretches[i].name, range.event, ns});
      }
    }
  }
  return result;
}

void number_buckets(std::span<const Span> spans, std::int64_t end_ns, std::vector<RankCollective>& collectives) {
  constexpr double kLeastBytes = 1024;
  std::int64_t backward_ns = end_ns;
  std::int64_t optimizer_ns = end_ns;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kBackward) backward_ns = std::min(backward_ns, span.begin_ns);
  }
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kOptimizer && span.begin_ns > backward_ns) optimizer_ns = std::min(optimizer_ns, span.begin_ns);
  }
  int bucket = 0;
  for (RankCollective& one : collectives) {
    const bool sums = one.function == "all_reduce" || one.function == "reduce_scatter";
    if (sums && one.bucket < 0 && one.bytes >= kLeastBytes && one.begin_ns >= backward_ns && one.begin_ns < optimizer_ns)
      one.bucket = bucket++;
  }
}

}  // namespace ddbench::analyzer
