#pragma once

#include <cstdint>

#include "core/span.h"

namespace ddbench::inject {

/// What the calls that a thread makes belong to: kernels, copies, memory sets and collectives that it
/// enqueues become spans of this kind, step, bucket, bytes and correlation. A communication range marks the
/// kernels of NCCL; other work in it, and NCCL's kernels in other ranges, keep the kind that they are by
/// nature.
struct Range {
  SpanKind kind = SpanKind::kCompute;
  std::uint32_t step = kNoStep;
  std::uint16_t bucket = kNoBucket;
  std::uint64_t bytes = 0;        ///< of a collective
  std::uint64_t correlation = 0;  ///< collective_key() of a collective
  const char* name = nullptr;     ///< of a collective; static; nullptr: that of NCCL's function
};

/// The innermost range of the calling thread. Outside of any that of the collective that another thread has
/// pushed (NCCL enqueues for a communicator that does not block from threads of its own, while the caller
/// waits), or a default one. Valid until the thread's next call. Shared by all shared objects of ddbench in
/// the process (ddbench_session.so).
__attribute__((visibility("default"))) const Range& thread_range() noexcept;

/// Beyond a depth of 16 a range is counted and does not take effect. A pop without its push does nothing.
__attribute__((visibility("default"))) void push_thread_range(const Range& range) noexcept;
__attribute__((visibility("default"))) void pop_thread_range() noexcept;

}  // namespace ddbench::inject
