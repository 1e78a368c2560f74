#pragma once

#include <cstdint>
#include <ctime>

namespace ddbench::ddp {

/// Time for which the calling thread had a core: other ranks that share it must not make the core look
/// slower.
inline std::int64_t thread_time_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace ddbench::ddp
