#pragma once

#include <cupti.h>

#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

namespace ddbench::cuda {

/// Names of CUDA's functions. CUPTI is asked for them while no lock is held: it may hold one of its own that
/// a callback waits for (kineto issue 1347). Thread-safe.
class CallNames {
 public:
  /// Asks for those of all calls among the records that are not known yet.
  void learn(std::span<const CUpti_Activity* const> records);
  /// "cuda_call" if nobody learnt it.
  std::string_view of(const CUpti_ActivityAPI& call) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::string_view> names_;  // CUPTI keeps the text
};

}  // namespace ddbench::cuda
