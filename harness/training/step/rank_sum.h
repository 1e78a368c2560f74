#pragma once

#include "harness/device/device.h"
#include "harness/training/step/communication_thread.h"

namespace ddbench::ddp {

/// One number, summed over the ranks on the way of the gradients: a collective takes only memory of the
/// device. The rank's own thread only.
class RankSum {
 public:
  RankSum(device::Device& device, CommunicationThread& communication)
      : device_(device),
        communication_(communication),
        memory_(device.allocate(sizeof(float))),
        tensor_{memory_.data(), 1, 1} {}

  void submit(float own, Place place) {
    device_.upload(&own, tensor_);
    submit_after(device_, communication_, [this, place](RecordedCollectives& collectives) {
      collectives.all_reduce_sum({tensor_.data, 1, collective::ElementType::kFloat32}, place);
    });
  }
  /// After the communication thread's next wait().
  float get() const {
    float sum = 0;
    device_.download(tensor_, &sum);
    return sum;
  }

 private:
  device::Device& device_;
  CommunicationThread& communication_;
  const device::Buffer memory_;
  const device::Tensor tensor_;
};

}  // namespace ddbench::ddp
