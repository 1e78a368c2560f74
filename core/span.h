#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace ddbench {

/// What a span was. The order is not meaningful; values are stored (analyzer/store/FORMAT.md): append, never
/// renumber.
enum class SpanKind : std::uint8_t {
  /// One optimizer step of this rank, from its begin to the begin of the next. Also recorded in a probe-off
  /// window; its `bucket` states this: kNoBucket when the probes were on in the whole step, 0 when they were
  /// off.
  kStep = 0,
  kForward = 1,        ///< compute of the forward pass
  kBackward = 2,       ///< compute of the backward pass
  kOptimizer = 3,      ///< compute of the optimizer
  kCompute = 4,        ///< compute that is none of the three, or not known which
  kCommunication = 5,  ///< a collective, from its start on this rank (its arrival) to its end on this rank
  kCopy = 6,           ///< a copy between memories, or into and out of a bucket
  kDataWait = 7,       ///< blocked in the loader
  kHost = 8,           ///< launch and framework: the step's own thread is active
  /// A collective as NCCL's profiler plug-in reports it, from the start of its first channel to the end of
  /// its last; the name is an NcclEvent. It describes a kernel, and is not part of a step itself:
  /// analyzer::join_nccl_events turns it into communication if none was recorded.
  kNcclEvent = 9,
};
inline constexpr int kSpanKindCount = 10;

/// The execution lane of a rank that a span ran on.
enum class Lane : std::uint8_t {
  kMain = 0,
  kCommunication = 1,
  kLoader = 2,
  kDeviceCompute = 3,
  kDeviceCommunication = 4
};
inline constexpr int kLaneCount = 5;

/// The name of kHost spans without a length: a program opened a file to write it.
inline constexpr std::string_view kFileOpenedName = "file_opened";

inline constexpr std::uint32_t kNoStep = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint16_t kNoBucket = std::numeric_limits<std::uint16_t>::max();

/// One interval of a rank's time. 48 bytes, trivially copyable: it travels through the ring and the spool as
/// is. Times are nanoseconds of the rank's own CLOCK_MONOTONIC (now_ns()); end_ns >= begin_ns.
struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t bytes = 0;        ///< moved or reduced on this rank; 0 when it does not apply
  std::uint64_t correlation = 0;  ///< collectives: collective_key(); 0 otherwise
  std::uint32_t name_id = 0;      ///< index into the rank's name table (operator or collective function)
  std::uint32_t step = kNoStep;   ///< counted from 0, warm-up included; kNoStep outside of steps
  SpanKind kind = SpanKind::kHost;
  Lane lane = Lane::kMain;
  std::uint16_t bucket = kNoBucket;  ///< gradient bucket of a collective or copy
  std::uint32_t reserved = 0;

  std::int64_t duration_ns() const noexcept { return end_ns - begin_ns; }
  friend bool operator==(const Span&, const Span&) = default;
};
static_assert(sizeof(Span) == 48 && std::is_trivially_copyable_v<Span>);

/// The key that joins one collective across ranks: every rank of a communicator numbers its collectives in
/// the same way. `communicator` is the same on all its ranks and below 2^16; `sequence` counts from 1 and is
/// below 2^48.
constexpr std::uint64_t collective_key(std::uint16_t communicator, std::uint64_t sequence) noexcept {
  return (static_cast<std::uint64_t>(communicator) << 48) | (sequence & 0xFFFF'FFFF'FFFFULL);
}

constexpr bool is_compute(SpanKind kind) noexcept {
  return kind == SpanKind::kForward || kind == SpanKind::kBackward || kind == SpanKind::kOptimizer ||
         kind == SpanKind::kCompute;
}

/// "forward", "communication", ...: used in stores, reports and traces.
std::string_view to_string(SpanKind kind) noexcept;
std::string_view to_string(Lane lane) noexcept;

}  // namespace ddbench
