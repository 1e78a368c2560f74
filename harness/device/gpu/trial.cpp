#include "harness/device/gpu/trial.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace ddbench::gpu {
namespace {

constexpr std::size_t kMostAlgorithms = 8;
constexpr int kTimedRuns = 3;
constexpr float kClearlyFaster = 0.97F;
constexpr float kNever = std::numeric_limits<float>::infinity();

bool is_wanted() {
  const char* const value = std::getenv("DDBENCH_AUTOTUNE");
  return value == nullptr || std::string_view(value) != "0";
}

}  // namespace

Trial::Trial(cudaStream_t stream)
    : stream_(stream),
      most_algorithms_(is_wanted() ? kMostAlgorithms : 1),
      begin_(make_event(true)),
      end_(make_event(true)) {}

bool Trial::is_possible() const {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_, &capture), "look for a capture");
  return capture == cudaStreamCaptureStatusNone;
}

/// The shortest of some runs; infinite if the library refuses.
float Trial::fastest_ms(std::size_t algorithm, const std::function<bool(std::size_t)>& launch) const {
  float fastest = kNever;
  for (int run = 0; run <= kTimedRuns; ++run) {
    check(cudaEventRecord(begin_.get(), stream_), "time an algorithm");
    if (!launch(algorithm)) return kNever;
    check(cudaEventRecord(end_.get(), stream_), "time an algorithm");
    check(cudaEventSynchronize(end_.get()), "time an algorithm");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "time an algorithm");
    if (run > 0) fastest = std::min(fastest, ms);  // the first run loads the kernel
  }
  return fastest;
}

std::size_t Trial::fastest(std::size_t count, const std::function<bool(std::size_t)>& launch) const {
  std::size_t best = 0;
  float least = kNever;
  for (std::size_t i = 0; i < count; ++i) {
    const float ms = fastest_ms(i, launch);
    if (ms >= least * kClearlyFaster) continue;
    least = ms;
    best = i;
  }
  return best;
}

}  // namespace ddbench::gpu
