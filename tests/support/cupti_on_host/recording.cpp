#include "recording.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "probes/cupti/buffer_recording.h"

namespace ddbench::testing::cupti {

/// Takes the bytes of a recording one after the other.
class Recording::Reader {
 public:
  Reader(std::string_view bytes, std::size_t offset) : bytes_(bytes), offset_(offset) {}

  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw error("something that is cut short");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    offset_ += count;
    return taken;
  }
  template <typename Number>
  Number number() {
    Number value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  cuda::Range range() {
    cuda::Range range;
    range.kind = static_cast<SpanKind>(number<std::uint32_t>());
    range.step = number<std::uint32_t>();
    range.bucket = static_cast<std::uint16_t>(number<std::uint32_t>());
    range.bytes = number<std::uint64_t>();
    range.correlation = number<std::uint64_t>();
    return range;
  }
  /// The next frame; false at the end.
  bool frame(cuda::RecordingFrame& type, Reader& frame) {
    if (bytes_.size() < 8) return false;
    Reader head = *this;
    type = static_cast<cuda::RecordingFrame>(head.number<std::uint32_t>());
    const auto size = head.number<std::uint32_t>();
    if (size > head.left()) return false;
    frame = Reader(head.bytes_.substr(0, size), head.offset_);
    head.take(size);
    *this = head;
    return true;
  }
  std::size_t left() const noexcept { return bytes_.size(); }
  std::runtime_error error(const std::string& what) const {
    return std::runtime_error("recording of CUPTI: " + what + " at byte " + std::to_string(offset_));
  }

 private:
  std::string_view bytes_;
  std::size_t offset_;
};

Recording::Recording(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  bytes_.assign(std::istreambuf_iterator<char>(in), {});
  Reader head(bytes_, 0);
  if (head.take(cuda::kRecordingMagic.size()) != cuda::kRecordingMagic) throw head.error("no recording");
  if (head.number<std::uint32_t>() != cuda::kRecordingVersion) throw head.error("another version");
  built_with_ = head.number<std::uint32_t>();
  ran_with_ = head.number<std::uint32_t>();
}

bool Recording::fits() const noexcept {
  constexpr std::uint32_t kCuda13 = 130'000;  // as activity_spans.h chooses
  return (built_with_ >= kCuda13) == (CUPTI_API_VERSION >= kCuda13);
}

std::size_t Recording::replay(cuda::CudaProbe& probe) {
  strings_.clear();
  ids_.clear();
  constexpr std::size_t kHeadBytes = 20;
  Reader rest(std::string_view(bytes_).substr(kHeadBytes), kHeadBytes);
  Reader frame = rest;
  cuda::RecordingFrame type{};
  std::size_t records = 0;
  while (rest.frame(type, frame)) {
    switch (type) {
      case cuda::RecordingFrame::kRange: {
        const auto id = frame.number<std::uint64_t>();
        probe.push(frame.range());
        if (external_ids().empty()) throw frame.error("the probe does not record; a range");
        ids_[id] = external_ids().back();
        probe.pop();
        break;
      }
      case cuda::RecordingFrame::kNode: replay_node(frame, probe); break;
      case cuda::RecordingFrame::kString: strings_.emplace_back(frame.take(frame.left())); break;
      case cuda::RecordingFrame::kBuffer: records += replay_buffer(frame); break;
      default: throw frame.error("a frame of no known type");
    }
  }
  return records;
}

void Recording::replay_node(Reader& frame, cuda::CudaProbe& probe) const {
  const auto node = frame.number<std::uint64_t>();
  probe.follow_capture(true);
  {
    const cuda::ScopedRange range(&probe, frame.range());
    create_node(node);
  }
  probe.follow_capture(false);
}

std::size_t Recording::replay_buffer(Reader& frame) const {
  frame.number<std::uint64_t>();  // context
  frame.number<std::uint32_t>();  // stream
  drop(frame.number<std::uint64_t>());
  const auto count = frame.number<std::uint32_t>();
  const auto names = frame.number<std::uint32_t>();
  std::vector<std::size_t> offsets;
  for (std::uint32_t i = 0; i < count; ++i) offsets.push_back(frame.number<std::uint32_t>());
  std::map<std::size_t, const char*> texts;
  for (std::uint32_t i = 0; i < names; ++i) {
    const auto at = frame.number<std::uint32_t>();
    texts[at] = strings_.at(frame.number<std::uint32_t>()).c_str();
  }
  std::string buffer(frame.take(frame.left()));
  for (const auto& [at, text] : texts) {
    if (at + sizeof text > buffer.size()) throw frame.error("a name outside of its buffer");
    std::memcpy(buffer.data() + at, &text, sizeof text);
  }
  offsets.push_back(buffer.size());
  Records records;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t size = offsets[i + 1] - offsets[i];
    if (offsets[i + 1] > buffer.size() || offsets[i] >= offsets[i + 1]) {
      throw frame.error("records out of order in a buffer");
    }
    CUpti_ActivityExternalCorrelation external{};
    if (size == sizeof external) std::memcpy(&external, buffer.data() + offsets[i], size);
    if (external.kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION && ids_.contains(external.externalId)) {
      external.externalId = ids_.at(external.externalId);
      records.add(external);
    } else {
      records.add(std::as_bytes(std::span(buffer).subspan(offsets[i], size)));
    }
  }
  deliver(records);
  return count;
}

}  // namespace ddbench::testing::cupti
