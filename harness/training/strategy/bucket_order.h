#pragma once

#include <cstddef>
#include <vector>

#include "harness/training/optimizer/bucket_plan.h"

namespace ddbench::ddp {

/// Tells when buckets are complete. They are handed over in their order, on every rank alike, whatever the
/// order in which gradients become ready; without overlap all of them when the last gradient is ready.
class BucketOrder {
 public:
  BucketOrder(const std::vector<Bucket>& plan, std::size_t parameters, bool overlaps = true)
      : overlaps_(overlaps), bucket_of_(parameters), missing_(plan.size()) {
    for (std::size_t bucket = 0; bucket < plan.size(); ++bucket) {
      sizes_.push_back(static_cast<int>(plan[bucket].size()));
      for (const std::size_t parameter : plan[bucket]) bucket_of_[parameter] = bucket;
    }
  }

  /// Before backward.
  void begin() noexcept {
    missing_ = sizes_;
    next_ = 0;
    ready_ = 0;
  }
  /// Calls `launch` with each bucket that can be handed over now.
  template <typename Launch>
  void on_ready(std::size_t parameter, Launch&& launch) {
    --missing_[bucket_of_[parameter]];
    if (++ready_ < bucket_of_.size() && !overlaps_) return;
    for (; next_ < missing_.size() && missing_[next_] == 0; ++next_) launch(next_);
  }

 private:
  bool overlaps_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<int> sizes_;
  std::vector<int> missing_;
  std::size_t next_ = 0;   // the first bucket that is not handed over
  std::size_t ready_ = 0;  // parameters
};

}  // namespace ddbench::ddp
