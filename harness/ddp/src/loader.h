#pragma once

#include <cstdint>

#include "ddbench/ddp/sampler.h"
#include "ddbench/device/device.h"
#include "ddbench/workload/dataset.h"
#include "ddbench/workload/model.h"

namespace ddbench::ddp {

/// This rank's batches, one after another, as a DataLoader(sampler, drop_last=True, num_workers=0) gives
/// them: read in the calling thread when they are asked for. An epoch has data set / global batch steps, and
/// at least one.
class Loader {
 public:
  Loader(const workload::Dataset& dataset, DistributedSampler sampler, std::int64_t batch,
         std::int64_t global_batch, device::Device& device, workload::Probe& probe);

  /// The next batch, in memory that the one before it was in. Recorded as data wait.
  const workload::Batch& next(workload::Probe& probe);

 private:
  const workload::Dataset& dataset_;
  DistributedSampler sampler_;
  const std::int64_t steps_per_epoch_;
  const std::uint32_t name_;
  std::int64_t steps_ = 0;
  device::Buffer inputs_;
  device::Buffer labels_;
  workload::Batch batch_;
};

}  // namespace ddbench::ddp
