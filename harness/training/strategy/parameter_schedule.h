#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/model/layers/memory_plan.h"
#include "harness/model/model.h"
#include "harness/training/optimizer/bucket_plan.h"

namespace ddbench::ddp {

/// When ZeRO-3 gathers the values of which bucket and where they lie, and where gradients lie until they are reduced. Moments
/// are those of ParameterUses. Every bucket is gathered twice: for what forward and what backward reads of it.
struct ParameterSchedule {
  struct Gather {
    std::size_t bucket = 0;
    std::size_t begins = 0;  ///< the moment at which the collective can be handed in: its memory is free
    std::size_t first = 0;   ///< the values are read from this moment on
    std::size_t last = 0;    ///< to this one
    std::int64_t offset = 0;
  };
  std::vector<Gather> gathers;  ///< in the order in which they are handed in
  std::int64_t value_bytes = 0;

  struct Gradient {
    std::size_t first = 0;  ///< the moment of backward that begins to write it
    std::size_t last = 0;   ///< after this moment its reduction has ended
    std::int64_t offset = 0;
  };
  std::vector<Gradient> gradients;  ///< by bucket
  std::int64_t gradient_bytes = 0;
};

/// With overlap the next gather runs beside the layers that read the values of the one before, and a bucket is reduced
/// while gradients of the next one are written; without, the rank waits for each. `bucket_bytes`: of the plan's buckets.
ParameterSchedule schedule_parameters(const workload::ParameterUses& uses, const std::vector<Bucket>& plan,
                                      std::span<const std::int64_t> bucket_bytes, bool overlap);

}  // namespace ddbench::ddp
