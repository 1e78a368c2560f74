#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "communication_thread.h"
#include "ddbench/ddp/bucket_plan.h"
#include "ddbench/device/device.h"
#include "ddbench/workload/model.h"

namespace ddbench::ddp {

/// Averages the ranks' gradients while backward still computes others. The gradients are views into the
/// buckets' memory, so nothing is copied. The owner's thread only.
class Reducer {
 public:
  Reducer(const std::vector<workload::ParameterSpec>& parameters, const std::vector<Bucket>& plan,
          collective::Communicator& communicator, device::Device& device, host::Recorder& recorder,
          TrainingMonitor& monitor, workload::Probe& probe);

  /// Gives every rank the values of rank 0, and waits until all ranks have them. `values` must outlive the
  /// Reducer.
  void broadcast_parameters(std::span<float> values);

  /// Where backward writes each parameter's gradient, in the order of registration.
  const std::vector<device::Tensor>& gradients() const noexcept { return gradients_; }

  /// Before backward.
  void begin_step() noexcept;
  /// A gradient is final. The last one of a bucket divides the bucket by the world size and hands it over for
  /// its all-reduce; buckets are handed over in order, on every rank alike.
  void on_ready(std::size_t parameter);
  /// Blocks until every bucket of the step is reduced. Throws the Error of a failed collective.
  void wait() { communication_.wait(); }

 private:
  struct BucketState {
    device::Buffer memory;
    device::Tensor values;
    int parameters = 0;
    int missing = 0;
  };

  void launch(std::size_t bucket);

  const int world_size_;
  device::Device& device_;
  workload::Probe& probe_;
  const std::uint32_t average_name_;
  std::vector<BucketState> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<device::Tensor> gradients_;
  std::size_t next_ = 0;               // the first bucket that is not handed over
  CommunicationThread communication_;  // ends before the memory that it works on
};

}  // namespace ddbench::ddp
