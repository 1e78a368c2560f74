#pragma once

#include <cstdint>

#include "harness/collective/communicator.h"
#include "harness/device/device.h"
#include "harness/microbench/plan.h"

namespace ddbench::micro {

/// One collective on this rank's part of two buffers. Numbers are whole and small, so that float32 sums are
/// exact.
class CollectiveCall {
 public:
  /// `input` and `output` are vectors in the device's memory, with room for bytes_of(measurement).
  CollectiveCall(const Measurement& measurement, device::Tensor input, device::Tensor output,
                 collective::Communicator& communicator, device::Device& device);

  void run();
  /// Runs it once on known numbers; returns the number of wrong elements in the result.
  std::int64_t count_wrong();
  /// Sums of zeros stay finite, however often they are taken.
  void fill_with_zeros();

 private:
  void copy_input();
  void fill_input();
  /// The value that this rank must receive in element `index`.
  double expected(std::int64_t index) const;

  Measurement measurement_;
  collective::Communicator& communicator_;
  device::Device& device_;
  std::int64_t ranks_;
  std::int64_t rank_;
  device::Tensor input_;  ///< input; in place, a part of output_ or the reverse
  device::Tensor output_;
};

}  // namespace ddbench::micro
