#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "harness/collective/communicator.h"
#include "harness/device/device.h"
#include "harness/microbench/collective_call.h"

namespace ddbench::bench {

/// An in-place all-reduce of zeros, as `ddbench micro` calls it, and its memory for whoever does the same.
struct ZeroedAllReduce {
  ZeroedAllReduce(collective::Communicator& communicator, std::int64_t bytes)
      : buffer(device->allocate(bytes)),
        tensor{buffer.data(), 1, bytes / 4},
        call({analyzer::MicroOperation::kAllReduce, bytes / 4, true}, tensor, tensor, communicator, *device) {
    call.fill_with_zeros();
  }

  std::unique_ptr<device::Device> device = device::make_device("cpu");
  device::Buffer buffer;
  device::Tensor tensor;
  micro::CollectiveCall call;
};

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace ddbench::bench
