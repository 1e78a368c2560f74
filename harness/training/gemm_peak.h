#pragma once

#include "harness/device/device.h"

namespace ddbench::ddp {

/// TFLOP/s of the fastest of some products of square matrices in `type`, by the calling thread's time on its
/// core: what MFU of a CPU is stated against. `device` computes in the calling thread. Takes 0.1 s and 7 MB
/// for a while.
double measure_gemm_peak_tflops(device::Device& device, device::DataType type);

}  // namespace ddbench::ddp
