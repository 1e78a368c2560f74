#include "probes/cupti/buffer_recording.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "probes/cupti/activity_spans.h"

namespace ddbench::cuda {
namespace {

struct CannotWrite {};

/// Numbers as the format has them, one behind the other.
class FrameBytes {
 public:
  template <typename Number>
  FrameBytes& number(Number value) {
    static_assert(std::is_unsigned_v<Number>);
    return text({reinterpret_cast<const char*>(&value), sizeof value});
  }
  FrameBytes& range(const Range& range) {
    return number(std::uint32_t{static_cast<std::uint8_t>(range.kind)})
        .number(range.step)
        .number(std::uint32_t{range.bucket})
        .number(range.bytes)
        .number(range.correlation);
  }
  FrameBytes& text(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }
  std::string_view view() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Where a record of a kind has the pointer to its name; 0: it has none that ddbench reads.
std::size_t name_offset(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return offsetof(KernelRecord, name);
    case CUPTI_ACTIVITY_KIND_MARKER: return offsetof(MarkerRecord, name);
    default: return 0;
  }
}

}  // namespace

/// Writes frames, or ends the recording.
template <typename Frames>
void BufferRecording::add(const Frames& frames) noexcept {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  try {
    frames();
    // Flush at once: the program may be killed, or fork, and then both processes would write the buffered
    // data.
    if (file_ && std::fflush(file_.get()) != 0) throw CannotWrite();
  } catch (...) {  // CannotWrite, no memory
    file_.reset();
    errors_ = 1;
  }
}

void BufferRecording::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) throw CannotWrite();
}

void BufferRecording::write_frame(RecordingFrame type, std::string_view bytes) {
  if (bytes.size() > UINT32_MAX) throw CannotWrite();
  write(FrameBytes()
            .number(static_cast<std::uint32_t>(type))
            .number(static_cast<std::uint32_t>(bytes.size()))
            .view());
  write(bytes);
}

BufferRecording::BufferRecording(std::FILE* file) : file_(file) {
  if (file == nullptr) errors_ = 1;
  std::uint32_t running = 0;
  cuptiGetVersion(&running);
  add([&] {
    write(FrameBytes()
              .text(kRecordingMagic)
              .number(kRecordingVersion)
              .number(std::uint32_t{CUPTI_API_VERSION})
              .number(running)
              .view());
  });
}

void BufferRecording::add_range(std::uint64_t external_id, const Range& range) noexcept {
  add([&] { write_frame(RecordingFrame::kRange, FrameBytes().number(external_id).range(range).view()); });
}

void BufferRecording::add_node(std::uint64_t node, const Range& range) noexcept {
  add([&] { write_frame(RecordingFrame::kNode, FrameBytes().number(node).range(range).view()); });
}

std::uint32_t BufferRecording::add_string(std::string_view text) {
  const auto [known, is_new] =
      strings_.try_emplace(std::string(text), static_cast<std::uint32_t>(strings_.size()));
  if (is_new) write_frame(RecordingFrame::kString, text);
  return known->second;
}

void BufferRecording::add_buffer(CUcontext context, std::uint32_t stream, std::uint64_t dropped,
                                 std::span<const std::uint8_t> buffer,
                                 std::span<const CUpti_Activity* const> records) noexcept {
  add([&] {
    FrameBytes offsets;
    FrameBytes names;
    std::uint32_t count = 0;
    for (const CUpti_Activity* const record : records) {
      const auto* const at = reinterpret_cast<const std::uint8_t*>(record);
      const auto offset = static_cast<std::uint32_t>(at - buffer.data());
      offsets.number(offset);
      const std::size_t in_record = name_offset(record->kind);
      const char* name = nullptr;
      if (in_record != 0) std::memcpy(&name, at + in_record, sizeof name);
      if (name == nullptr) continue;
      names.number(static_cast<std::uint32_t>(offset + in_record)).number(add_string(name));
      ++count;
    }
    write_frame(RecordingFrame::kBuffer,
                FrameBytes()
                    .number(std::uint64_t{reinterpret_cast<std::uintptr_t>(context)})
                    .number(stream)
                    .number(dropped)
                    .number(static_cast<std::uint32_t>(records.size()))
                    .number(count)
                    .text(offsets.view())
                    .text(names.view())
                    .text({reinterpret_cast<const char*>(buffer.data()), buffer.size()})
                    .view());
  });
}

void BufferRecording::end() noexcept {
  add([&] {
    std::FILE* const file = file_.release();
    if (std::fclose(file) != 0) throw CannotWrite();
  });
}

std::uint64_t BufferRecording::errors() const noexcept {
  const std::lock_guard lock(mutex_);
  return errors_;
}

std::unique_ptr<BufferRecording> open_recording() {
  const char* const path = std::getenv(kRecordingVariable);
  if (path == nullptr || *path == '\0') return nullptr;
  return std::make_unique<BufferRecording>(std::fopen(path, "wbxe"));
}

}  // namespace ddbench::cuda
