#include "reports/formats/chakra/dependencies.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

namespace ddbench::reports::chakra {
namespace {

/// A sequence of spans in order: a lane of compute, or a communicator.
using Line = std::pair<bool, std::uint64_t>;

bool communicates(const Span& span) {
  return span.kind == SpanKind::kCommunication;
}

Line line_of(const Span& span) {
  return {communicates(span), communicates(span) ? span.correlation >> 48 : static_cast<std::uint64_t>(span.lane)};
}

/// The span of each line that ended last, up to the current time.
class LastEnded {
 public:
  explicit LastEnded(std::span<const Span> spans) : spans_(spans) {}

  void go_to(std::int64_t at_ns) {
    for (; !running_.empty() && running_.top().first <= at_ns; running_.pop()) {
      const std::size_t span = running_.top().second;
      of_line_[line_of(spans_[span])] = span;
      (communicates(spans_[span]) ? communication_ : compute_) = span;
    }
  }
  void begins(std::size_t span) { running_.emplace(spans_[span].end_ns, span); }

  std::optional<std::size_t> of_line(const Line& line) const {
    const auto found = of_line_.find(line);
    return found == of_line_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::size_t> compute() const { return compute_; }
  std::optional<std::size_t> communication() const { return communication_; }

 private:
  using Running = std::pair<std::int64_t, std::size_t>;  // first: its end
  std::span<const Span> spans_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::map<Line, std::size_t> of_line_;
  std::optional<std::size_t> compute_;
  std::optional<std::size_t> communication_;
};

}  // namespace

std::vector<std::vector<std::size_t>> dependencies(std::span<const Span> spans) {
  std::vector<std::vector<std::size_t>> all(spans.size());
  LastEnded last(spans);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    last.go_to(spans[i].begin_ns);
    const std::optional<std::size_t> before = last.of_line(line_of(spans[i]));
    if (before) all[i].push_back(*before);
    if (communicates(spans[i])) {
      if (last.compute()) all[i].push_back(*last.compute());
    } else if (const auto ended = last.communication(); ended && (!before || spans[*ended].end_ns > spans[*before].end_ns)) {
      all[i].push_back(*ended);
    }
    last.begins(i);
  }
  return all;
}

}  // namespace ddbench::reports::chakra
