#pragma once

#include "harness/device/device.h"

namespace ddbench::test {

/// GPUs do; of CPUs, those whose vectors oneDNN can use for it.
inline bool computes_bfloat16(const device::Device& device) {
  const std::string description = device.description();
  return !description.starts_with("cpu") || description.find("AVX512") != std::string::npos;
}

}  // namespace ddbench::test
