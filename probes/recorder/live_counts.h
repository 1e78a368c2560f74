#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace ddbench {

/// What a process of a program counts while it runs, in a file that it maps (probes/preload/session/live_progress.h) and the
/// launcher reads: times are now_ns(). Each value is whole; together they may be of moments that lie apart by some microseconds.
struct LiveCounts {
  std::atomic<std::uint64_t> steps{0};  ///< of the loop with most
  std::atomic<std::int64_t> first_step_ns{0};  ///< end of the first; 0: there is none
  std::atomic<std::int64_t> last_step_ns{0};
  std::atomic<std::int64_t> communication_ns{0};  ///< in which a thread was in a collective; at least one of them
  std::atomic<std::int64_t> at_first_step_ns{0};  ///< communication_ns then
  std::atomic<std::int64_t> at_last_step_ns{0};
};
static_assert(std::is_standard_layout_v<LiveCounts> && sizeof(LiveCounts) == 48);
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr const char* kLiveSuffix = ".live";  ///< of the file, beside the spool: "rank0.123.live"

}  // namespace ddbench
