// The begins and ends of collectives divide the step into stretches. In a stretch without a collective, only
// the total time of each kind matters, not its position: the stretch becomes one span of each kind. In a
// stretch with a collective, compute hides communication, so the position matters too.
#include "analyzer/attribution/summarize_step.h"

#include <algorithm>
#include <array>
#include <functional>

#include "core/program/device_span.h"

namespace ddbench::analyzer {
namespace {

// In the partition's order of priority.
constexpr std::array kKinds = {SpanKind::kForward, SpanKind::kBackward, SpanKind::kOptimizer,
                               SpanKind::kCompute, SpanKind::kCopy,     SpanKind::kDataWait,
                               SpanKind::kHost};
constexpr std::size_t kComputeKinds = 4;
constexpr std::size_t kNobody = kKinds.size();
constexpr std::size_t kCollective = kKinds.size() + 1;

std::size_t place_of(SpanKind kind) {
  if (kind == SpanKind::kCommunication) return kCollective;
  return static_cast<std::size_t>(std::find(kKinds.begin(), kKinds.end(), kind) - kKinds.begin());
}

/// A time in which the same kind counts.
struct Stretch {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t kind = kNobody;  ///< place in kKinds
  bool beside_collective = false;
  bool after_cut = false;  ///< a collective began or ended at its begin

  std::int64_t length_ns() const { return end_ns - begin_ns; }
  bool is_gap() const { return kind >= kComputeKinds; }
};

struct Boundary {
  std::int64_t time_ns;
  std::size_t kind;
  int change;
};

class Sweep {
 public:
  Sweep(std::int64_t begin_ns, std::int64_t end_ns) : begin_ns_(begin_ns), end_ns_(end_ns) {}

  void add(const Span& span) {
    const std::size_t kind = place_of(span.kind);
    const std::int64_t from_ns = std::max(span.begin_ns, begin_ns_);
    const std::int64_t to_ns = std::min(span.end_ns, end_ns_);
    if (kind == kNobody || from_ns >= to_ns || is_device_wait(span)) return;
    boundaries_.push_back({from_ns, kind, 1});
    boundaries_.push_back({to_ns, kind, -1});
  }

  std::vector<Stretch> stretches() {
    std::sort(boundaries_.begin(), boundaries_.end(),
              [](const Boundary& a, const Boundary& b) { return a.time_ns < b.time_ns; });
    boundaries_.push_back({end_ns_, kNobody, 0});
    std::array<int, kCollective + 1> open{};
    Stretch now{begin_ns_, begin_ns_};
    for (const Boundary& boundary : boundaries_) {
      if (boundary.time_ns > now.begin_ns) {
        now.end_ns = boundary.time_ns;
        append(now, open);
        now = {boundary.time_ns, boundary.time_ns};
      }
      open[boundary.kind] += boundary.change;
      now.after_cut = now.after_cut || boundary.kind == kCollective;
    }
    return std::move(stretches_);
  }

 private:
  void append(Stretch stretch, const std::array<int, kCollective + 1>& open) {
    stretch.kind = 0;
    while (stretch.kind < kNobody && open[stretch.kind] == 0) ++stretch.kind;
    stretch.beside_collective = open[kCollective] != 0;
    // Other activity of a rank during communication does not count.
    if (stretch.beside_collective && stretch.is_gap()) stretch.kind = kNobody;
    const bool goes_on = !stretches_.empty() && !stretch.after_cut && stretches_.back().kind == stretch.kind;
    if (goes_on) {
      stretches_.back().end_ns = stretch.end_ns;
    } else {
      stretches_.push_back(stretch);
    }
  }

  std::int64_t begin_ns_;
  std::int64_t end_ns_;
  std::vector<Boundary> boundaries_;
  std::vector<Stretch> stretches_;
};

bool is_inner_gap(const std::vector<Stretch>& stretches, std::size_t i) {
  return stretches[i].beside_collective && stretches[i].is_gap() && !stretches[i].after_cut &&
         i + 1 < stretches.size() && !stretches[i + 1].after_cut;
}

/// Gaps in compute beside a collective that are longer than this stay.
std::int64_t longest_moved_gap_ns(const std::vector<Stretch>& stretches, std::size_t most_gaps) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (is_inner_gap(stretches, i)) gaps.push_back(stretches[i].length_ns());
  }
  if (gaps.size() <= most_gaps) return 0;
  const auto first_moved = gaps.begin() + static_cast<std::ptrdiff_t>(most_gaps);
  std::nth_element(gaps.begin(), first_moved, gaps.end(), std::greater<>());
  return *first_moved;
}

/// Sums stretches up and writes each sum as one span a kind, the kinds one after the other.
class Pieces {
 public:
  Pieces(std::vector<Span>& out, const Span& like) : out_(out), like_(like) {}

  void add(const Stretch& stretch) {
    if (sums_ns_ == std::array<std::int64_t, kNobody + 1>{}) begin_ns_ = stretch.begin_ns;
    sums_ns_[stretch.kind] += stretch.length_ns();
  }

  void write() {
    for (std::size_t kind = 0; kind < kNobody; ++kind) {
      if (sums_ns_[kind] != 0) write(kKinds[kind], sums_ns_[kind]);
    }
    sums_ns_ = {};
  }

 private:
  void write(SpanKind kind, std::int64_t length_ns) {
    const bool goes_on = last_ != nullptr && last_->kind == kind && last_->end_ns == begin_ns_;
    if (!goes_on) {
      last_ = &out_.emplace_back(like_);
      last_->kind = kind;
      last_->begin_ns = begin_ns_;
    }
    begin_ns_ += length_ns;
    last_->end_ns = begin_ns_;
  }

  std::vector<Span>& out_;
  const Span like_;
  Span* last_ = nullptr;
  std::int64_t begin_ns_ = 0;
  std::array<std::int64_t, kNobody + 1> sums_ns_{};
};

void write_pieces(const std::vector<Stretch>& stretches, std::int64_t longest_moved_ns, const Span& like,
                  std::vector<Span>& out) {
  out.reserve(out.size() + stretches.size());  // Pieces keeps a pointer to the last
  Pieces pieces(out, like);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const Stretch& stretch = stretches[i];
    const bool stays = stretch.beside_collective && stretch.is_gap() &&
                       (!is_inner_gap(stretches, i) || stretch.length_ns() > longest_moved_ns);
    if (stretch.after_cut || stays) pieces.write();
    if (!stays) pieces.add(stretch);
  }
  pieces.write();
}

const Span* only_step(std::span<const Span> spans) {
  const Span* step = nullptr;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kStep) continue;
    if (step != nullptr) return nullptr;
    step = &span;
  }
  return step;
}

bool stays_as_it_is(const Span& span) {
  return span.kind == SpanKind::kStep || span.kind == SpanKind::kCommunication ||
         span.kind == SpanKind::kNcclEvent;
}

}  // namespace

std::optional<std::vector<Span>> summarize_step(std::span<const Span> spans, std::span<const Span> others,
                                             std::uint32_t name_id, std::size_t most_gaps) {
  const Span* const step = only_step(spans);
  if (step == nullptr || step->end_ns < step->begin_ns) return std::nullopt;
  Sweep sweep(step->begin_ns, step->end_ns);
  std::vector<Span> reduced;
  for (const Span& span : spans) {
    const bool is_inside = span.begin_ns >= step->begin_ns && span.end_ns <= step->end_ns;
    if (!stays_as_it_is(span) && (!is_inside || span.end_ns < span.begin_ns)) return std::nullopt;
    sweep.add(span);
    if (stays_as_it_is(span)) reduced.push_back(span);
  }
  for (const Span& span : others) {
    const bool is_outside = span.begin_ns >= step->end_ns || span.end_ns <= step->begin_ns;
    if (!stays_as_it_is(span) && !is_outside) return std::nullopt;
    if (span.kind == SpanKind::kCommunication) sweep.add(span);
  }
  const std::vector<Stretch> stretches = sweep.stretches();
  const Span like{.name_id = name_id, .step = step->step};
  write_pieces(stretches, longest_moved_gap_ns(stretches, most_gaps), like, reduced);
  return reduced;
}

}  // namespace ddbench::analyzer
