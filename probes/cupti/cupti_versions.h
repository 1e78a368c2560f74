#pragma once

#include <cupti.h>

#include <cstdint>

/// What versions of CUPTI (cuptiGetVersion, CUPTI_API_VERSION) get wrong or do otherwise.
namespace ddbench::cuda {

/// Before CUDA 12.9 CUPTI may crash when it is refused a buffer (kineto's kCuptiBufferRejectionMinVersion).
constexpr bool takes_a_refusal(std::uint32_t version) noexcept {
  return version >= 27;
}

/// Before CUDA 13.1 Update 1 launches of graphs get wrong correlation ids once recording was ended and begun
/// again (release notes of CUPTI; CUDA 13.0 may also wait for ever where recording kernels ends). Kinds of
/// activities then have to stay on.
constexpr bool may_begin_again(std::uint32_t version) noexcept {
  return version >= 130101;
}

/// Before CUDA 13.4 Update 1 tracing in hardware may crash where graphs are instantiated and contexts end, and leaks memory with each kernel
/// (release notes of CUPTI).
constexpr bool traces_well_in_hardware(std::uint32_t version) noexcept {
  return version >= 130401;
}

/// How many times the record of a kernel has changed. It is that of the CUPTI that runs, whatever the program
/// was built with: 13.2 has CUpti_ActivityKernel11 and 13.3 CUpti_ActivityKernel12, under the soname of 13.0.
constexpr int kernel_record(std::uint32_t version) noexcept {
  if (version >= 130300) return 12;
  if (version >= 130200) return 11;
  return version >= 130000 ? 10 : 9;
}

constexpr bool has_newer_records(std::uint32_t running, std::uint32_t built_with) noexcept {
  return kernel_record(running) > kernel_record(built_with);
}

}  // namespace ddbench::cuda
