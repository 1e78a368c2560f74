#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace ddbench::cuda_on_host {

/// Calls that queue work, of this process: those of a capture count once, and launches of its graph do not.
enum class CountedWork : std::size_t { kKernels, kProducts, kFastProducts, kGraphs, kFastGraphs };
inline constexpr std::string_view kCountedWork[] = {"kernels", "products", "products by the fast algorithm",
                                                   "graphs of cuDNN", "graphs of cuDNN by the fast engine"};

inline std::atomic<std::uint64_t> counted_work[std::size(kCountedWork)];

/// Any thread.
inline void count_work(CountedWork what) {
  ++counted_work[static_cast<std::size_t>(what)];
}

}  // namespace ddbench::cuda_on_host

/// For tests, which find it in the loaded library: how much of it there was; 0 for a name that is none of those above.
extern "C" std::uint64_t ddbench_host_work(const char* what);
