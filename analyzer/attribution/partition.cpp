#include "analyzer/attribution/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "analyzer/attribution/radix_sort.h"
#include "core/program/device_span.h"
#include "core/error.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

using store::StepPart;

// A boundary is one number: time since the step's begin, part, and whether the part's span closes here.
// Sorting it moves 8 bytes instead of a span's 48.
constexpr unsigned kTimeShift = 5;
constexpr std::uint64_t kLongestStep_ns = std::uint64_t{1} << 58;

constexpr std::uint32_t bit_of(StepPart part) {
  return 1u << static_cast<unsigned>(part);
}
constexpr std::uint32_t kComputeBits = bit_of(StepPart::kForward) | bit_of(StepPart::kBackward) |
                                       bit_of(StepPart::kOptimizer) | bit_of(StepPart::kOtherCompute);
constexpr std::uint32_t kCommunicationBits =
    bit_of(StepPart::kExposedTransfer) | bit_of(StepPart::kExposedPeerWait);

StepPart part_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kForward: return StepPart::kForward;
    case SpanKind::kBackward: return StepPart::kBackward;
    case SpanKind::kOptimizer: return StepPart::kOptimizer;
    case SpanKind::kCompute: return StepPart::kOtherCompute;
    case SpanKind::kCommunication: return StepPart::kExposedTransfer;
    case SpanKind::kCopy: return StepPart::kCopy;
    case SpanKind::kDataWait: return StepPart::kDataWait;
    case SpanKind::kHost: return StepPart::kHost;
    case SpanKind::kStep:
    case SpanKind::kNcclEvent: break;
  }
  return StepPart::kIdle;
}

class BoundaryList {
 public:
  BoundaryList(std::int64_t begin_ns, std::int64_t end_ns, std::size_t spans)
      : begin_ns_(begin_ns), end_ns_(end_ns) {
    boundaries_.reserve(2 * std::min<std::size_t>(spans, 4096));
  }

  /// Returns the length of [from_ns, to_ns) inside the step.
  std::int64_t add(std::int64_t from_ns, std::int64_t to_ns, StepPart part) {
    from_ns = std::max(from_ns, begin_ns_);
    to_ns = std::min(to_ns, end_ns_);
    if (from_ns >= to_ns) return 0;
    const std::uint64_t opens = static_cast<std::uint64_t>(part) << 1;
    boundaries_.push_back((since_begin(from_ns) << kTimeShift) | opens);
    boundaries_.push_back((since_begin(to_ns) << kTimeShift) | opens | 1);
    return to_ns - from_ns;
  }

  const std::vector<std::uint64_t>& sorted() {
    const std::uint64_t largest = (since_begin(end_ns_) << kTimeShift) | ((1u << kTimeShift) - 1);
    sort_boundaries(boundaries_, kTimeShift, largest);
    return boundaries_;
  }

 private:
  std::uint64_t since_begin(std::int64_t time_ns) const {
    return static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(begin_ns_);
  }

  std::int64_t begin_ns_;
  std::int64_t end_ns_;
  std::vector<std::uint64_t> boundaries_;
};

/// Adds a collective as its peer wait and its transfer; returns the peer wait inside the step.
std::int64_t add_collective(const Span& span, const LastArrivals& last_arrivals, BoundaryList& boundaries) {
  std::int64_t all_there_ns = span.begin_ns;
  if (const auto found = last_arrivals.find(span.correlation); found != last_arrivals.end()) {
    all_there_ns = std::max(span.begin_ns, std::min(found->second, span.end_ns));
  }
  const std::int64_t wait_ns = boundaries.add(span.begin_ns, all_there_ns, StepPart::kExposedPeerWait);
  boundaries.add(all_there_ns, span.end_ns, StepPart::kExposedTransfer);
  return wait_ns;
}

void sweep(const std::vector<std::uint64_t>& boundaries, std::int64_t length_ns, PartitionedStep& result) {
  std::array<std::uint32_t, store::kStepPartCount> open{};
  std::uint32_t busy = 0;
  std::int64_t now_ns = 0;
  const auto advance = [&](std::int64_t to_ns) {
    const std::int64_t elapsed_ns = to_ns - now_ns;
    now_ns = to_ns;
    result.partition.ns[static_cast<std::size_t>(std::countr_zero(busy | bit_of(StepPart::kIdle)))] +=
        elapsed_ns;
    if ((busy & kCommunicationBits) == 0) return;
    result.communication_ns += elapsed_ns;
    if ((busy & kComputeBits) != 0) result.overlap_ns += elapsed_ns;
  };
  for (const std::uint64_t boundary : boundaries) {
    const auto time_ns = static_cast<std::int64_t>(boundary >> kTimeShift);
    if (time_ns != now_ns) advance(time_ns);
    const std::size_t part = (boundary >> 1) & 0xF;
    // Boundaries at one instant are in no particular order: a count may wrap below zero and come back.
    open[part] += (boundary & 1) != 0 ? ~0u : 1u;
    busy = open[part] != 0 ? busy | (1u << part) : busy & ~(1u << part);
  }
  advance(length_ns);
}

}  // namespace

PartitionedStep partition_step(std::span<const Span> spans, std::int64_t begin_ns, std::int64_t end_ns,
                               const LastArrivals& last_arrivals) {
  const std::uint64_t length_ns = static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(begin_ns);
  if (end_ns < begin_ns || length_ns > kLongestStep_ns) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("a step from {} ns to {} ns cannot be partitioned: its clock went wrong",
                            begin_ns, end_ns));
  }
  PartitionedStep result;
  BoundaryList boundaries(begin_ns, end_ns, spans.size() + 8);
  for (const Span& span : spans) {
    if (span.begin_ns >= end_ns || span.end_ns <= begin_ns || span.end_ns < span.begin_ns) continue;
    if (span.kind == SpanKind::kCommunication) {
      result.peer_wait_ns = add_ns(result.peer_wait_ns, add_collective(span, last_arrivals, boundaries));
    } else if (const StepPart part = part_of(span.kind); part != StepPart::kIdle && !is_device_wait(span)) {
      boundaries.add(span.begin_ns, span.end_ns, part);
    }
  }
  sweep(boundaries.sorted(), static_cast<std::int64_t>(length_ns), result);
  return result;
}

}  // namespace ddbench::analyzer
