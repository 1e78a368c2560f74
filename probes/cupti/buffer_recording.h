#pragma once

#include <cupti.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "probes/cuda/cuda_probe.h"

namespace ddbench::cuda {

/// The variable by which a program requests a recording: the file to create.
inline constexpr const char* kRecordingVariable = "DDBENCH_CUPTI_RECORDING";

/// The data that CUPTI passed to a probe, recorded so that another probe can process it later, without a GPU.
/// Numbers are little-endian and packed without gaps. The format:
///
///   head    kRecordingMagic, u32 kRecordingVersion, u32 CUPTI_API_VERSION of the build (which decides
///           how records are laid out), u32 that of the CUPTI that ran
///   frames  u32 type, u32 bytes of what follows:
///     kRange   u64 external id, range        was pushed
///     kNode    u64 node, range               a node of a graph has the range of its capture
///     kString  text                          the next string; they count from 0
///     kBuffer  u64 context, u32 stream, u64 records that CUPTI dropped before it, u32 records, u32 strings,
///              records x u32 offset in the buffer, strings x (u32 offset of a pointer in the buffer, u32
///              string that it points to), and the buffer as it was
///   range     u32 kind, u32 step, u32 bucket, u64 bytes, u64 correlation
///
/// A frame refers only to preceding frames. In a recording of a killed program the last frame may be
/// truncated.
inline constexpr std::string_view kRecordingMagic = "DDBCUPTI";
inline constexpr std::uint32_t kRecordingVersion = 1;
enum class RecordingFrame : std::uint32_t { kRange = 1, kNode = 2, kString = 3, kBuffer = 4 };
static_assert(std::endian::native == std::endian::little);

/// Writes one. What cannot be written ends the recording, and nothing else. Thread-safe.
class BufferRecording {
 public:
  /// Takes the file; nullptr is one that cannot be written.
  explicit BufferRecording(std::FILE* file);

  void add_range(std::uint64_t external_id, const Range& range) noexcept;
  void add_node(std::uint64_t node, const Range& range) noexcept;
  /// `records` lie in `buffer`.
  void add_buffer(CUcontext context, std::uint32_t stream, std::uint64_t dropped,
                  std::span<const std::uint8_t> buffer,
                  std::span<const CUpti_Activity* const> records) noexcept;
  /// Everything added so far is in the file; later additions are ignored. Idempotent.
  void end() noexcept;
  /// 1 when it ended early.
  std::uint64_t errors() const noexcept;

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  template <typename Frames>
  void add(const Frames& frames) noexcept;
  void write_frame(RecordingFrame type, std::string_view bytes);
  void write(std::string_view bytes);
  std::uint32_t add_string(std::string_view text);

  mutable std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unordered_map<std::string, std::uint32_t> strings_;
  std::uint64_t errors_ = 0;
};

/// The recording requested by the environment; nullptr if none is. An existing file is not touched: with
/// several ranks the first one gets the file.
std::unique_ptr<BufferRecording> open_recording();

}  // namespace ddbench::cuda
