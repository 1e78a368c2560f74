#pragma once

#include <cstdint>
#include <string>

#include "core/span.h"

/// What spans of GPUs, and of calls that wait for one, have beside their kind and lane.
namespace ddbench {

/// Where in a process a GPU's work ran, in Span::reserved: the device and its stream, so that a process with
/// several GPUs, or streams, has a row for each. 0: not known. Devices from 255 on and the upper 8 bits of a
/// stream's number are not kept.
constexpr std::uint32_t device_queue(std::uint32_t device, std::uint32_t stream) noexcept {
  constexpr std::uint32_t kStreams = 1U << 24;
  return device < 255 ? (device + 1) * kStreams + stream % kStreams : 0;
}
constexpr std::uint32_t device_of(std::uint32_t queue) noexcept { return (queue >> 24) - 1; }
constexpr std::uint32_t stream_of(std::uint32_t queue) noexcept { return queue & 0xFF'FFFF; }

/// " GPU 1 stream 7"; "" where it is not known.
inline std::string queue_title(std::uint32_t queue) {
  if (queue == 0) return {};
  return " GPU " + std::to_string(device_of(queue)) + " stream " + std::to_string(stream_of(queue));
}

/// The bucket of kHost spans in which a thread waits for a GPU (cudaStreamSynchronize): they are shown, and
/// count as no work of the host. What the GPU does meanwhile counts.
inline constexpr std::uint16_t kDeviceWait = 0xFFFE;
constexpr bool is_device_wait(const Span& span) noexcept {
  return span.kind == SpanKind::kHost && span.bucket == kDeviceWait;
}

}  // namespace ddbench
