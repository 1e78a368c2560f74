#pragma once

#include <cstdint>

#include "harness/device/device.h"

namespace ddbench::ddp {

/// What a hook that sends gradients in half precision adds to a step, for a MiB of 32-bit gradients.
struct HalfConversion {
  double narrow_ns_per_mib = 0;  ///< narrowing them, beyond the scaling that averages them without the hook
  double widen_ns_per_mib = 0;   ///< widening the result
};

/// The fastest of some passes over `gradient_bytes` (between 64 KiB and 16 MiB), by the calling thread's time
/// on its core: what `ddbench predict -S hook=fp16` adds to steps that were recorded without the hook.
/// `device` computes in the calling thread. Takes some 10 ms, and memory for a while.
HalfConversion measure_half_conversion(device::Device& device, std::int64_t gradient_bytes);

}  // namespace ddbench::ddp
