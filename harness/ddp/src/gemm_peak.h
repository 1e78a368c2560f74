#pragma once

#include "ddbench/device/device.h"

namespace ddbench::ddp {

/// TFLOP/s of the fastest of some products of square matrices in `type`: what MFU is stated against where no
/// catalogue knows the device. Takes 0.1 s and 7 MB for a while.
double measure_gemm_peak_tflops(device::Device& device, device::DataType type);

}  // namespace ddbench::ddp
