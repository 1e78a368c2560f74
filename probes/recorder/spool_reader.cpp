#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/span_limits.h"
#include "probes/recorder/spool.h"
#include "probes/recorder/spool_format.h"

namespace ddbench::host {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

template <typename T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// Appends Ts as they lie in the file, those that `check(T, place)` holds for; false when `bytes` is not a
/// whole number of them.
template <typename T, typename Check>
bool append(std::vector<T>& to, const char* from, std::size_t bytes, const Check& check) {
  if (bytes % sizeof(T) != 0) return false;
  const std::size_t before = to.size();
  to.resize(before + bytes / sizeof(T));
  if (bytes > 0) std::memcpy(static_cast<void*>(to.data() + before), from, bytes);
  std::size_t place = 0;
  const auto first = to.begin() + static_cast<std::ptrdiff_t>(before);
  to.erase(std::remove_if(first, to.end(), [&](const T& each) { return !check(each, place++); }), to.end());
  return true;
}

}  // namespace

SpoolReader::SpoolReader(std::filesystem::path file) : file_(std::move(file)) {
  fd_.reset(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd_) throw_errno(errno, "open spool " + file_.string());
  read_head();
  if (!corruption_.empty()) throw_corruption();
}

SpoolBatch SpoolReader::read(std::size_t max_spans) {
  SpoolBatch batch;
  const std::uint32_t frames_before = frames_;
  if (read_head()) {
    while (batch.spans.size() < max_spans && !ended_ && next_frame(batch)) {
    }
  }
  // The frames before a corrupt one are good: they go out first, and the next call throws.
  if (!corruption_.empty() && frames_ == frames_before) throw_corruption();
  batch.dropped = dropped_;
  batch.invalid = invalid_;
  batch.first_invalid = first_invalid_;
  batch.ended = ended_;
  return batch;
}

bool SpoolReader::read_head() {
  if (offset_ == 0) {
    if (fill(sizeof(SpoolPreamble)) < sizeof(SpoolPreamble)) return false;
    const auto found = load<SpoolPreamble>(buffer_.get() + taken_);
    if (found.magic != SpoolPreamble{}.magic) return corrupt("this is not a spool file");
    if (found.version != kSpoolVersion) {
      return corrupt(
          fmt::format("format version {}, this build reads version {}", found.version, kSpoolVersion));
    }
    taken_ += sizeof(SpoolPreamble);
    offset_ += sizeof(SpoolPreamble);
  }
  SpoolBatch nothing;
  return frames_ > 0 || next_frame(nothing);
}

bool SpoolReader::next_frame(SpoolBatch& batch) {
  if (fill(sizeof(FrameHeader)) < sizeof(FrameHeader)) return false;
  const auto header = load<FrameHeader>(buffer_.get() + taken_);
  if (header_checksum(header) != header.header_check) {
    return corrupt("a frame header contradicts its checksum");
  }
  if (header.payload_bytes > kMaxPayloadBytes) return corrupt("a frame is larger than the format allows");
  if (header.sequence != frames_ || (frames_ == 0) != (header.type == kRunFrame)) {
    return corrupt(fmt::format("frame {} stands where frame {} was expected", header.sequence, frames_));
  }
  const std::size_t frame_bytes = sizeof(FrameHeader) + header.payload_bytes;
  if (fill(frame_bytes) < frame_bytes) return false;
  const char* payload = buffer_.get() + taken_ + sizeof(FrameHeader);
  if (spool_checksum(payload, header.payload_bytes) != header.payload_check) {
    return corrupt("a frame contradicts its checksum");
  }
  if (!apply(header.type, payload, header.payload_bytes, batch)) {
    return corrupt(
        fmt::format("the {} bytes of a frame of type {} make no sense", header.payload_bytes, header.type));
  }
  taken_ += frame_bytes;
  offset_ += frame_bytes;
  ++frames_;
  return true;
}

std::size_t SpoolReader::fill(std::size_t wanted_bytes) {
  if (filled_ - taken_ >= wanted_bytes) return filled_ - taken_;
  make_room(wanted_bytes);
  while (filled_ < wanted_bytes) {
    const ssize_t got = ::pread(fd_.get(), buffer_.get() + filled_, buffer_bytes_ - filled_,
                                static_cast<off_t>(offset_ + filled_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(errno, "read spool " + file_.string());
    if (got == 0) break;
    filled_ += static_cast<std::size_t>(got);
  }
  return filled_;
}

void SpoolReader::make_room(std::size_t wanted_bytes) {
  std::unique_ptr<char[]> larger;
  if (wanted_bytes > buffer_bytes_) {
    buffer_bytes_ = std::max(wanted_bytes, kReadBytes);
    larger = std::make_unique_for_overwrite<char[]>(buffer_bytes_);
  }
  char* target = larger ? larger.get() : buffer_.get();
  filled_ -= taken_;
  if (filled_ > 0) std::memmove(target, buffer_.get() + taken_, filled_);
  taken_ = 0;
  if (larger) buffer_ = std::move(larger);
}

bool SpoolReader::apply(std::uint32_t type, const char* payload, std::size_t payload_bytes,
                        SpoolBatch& batch) {
  switch (type) {
    case kRunFrame:
      if (payload_bytes < sizeof(std::int32_t)) return false;
      rank_ = load<std::int32_t>(payload);
      run_id_.assign(payload + sizeof(std::int32_t), payload_bytes - sizeof(std::int32_t));
      return true;
    case kNamesFrame: return apply_names(payload, payload_bytes, batch);
    case kSpansFrame: return apply_spans(payload, payload_bytes, batch);
    case kScalarsFrame: return apply_scalars(payload, payload_bytes, batch);
    case kDroppedFrame:
      if (payload_bytes != sizeof(dropped_)) return false;
      dropped_ = load<std::uint64_t>(payload);
      return true;
    case kEndFrame: ended_ = true; return payload_bytes == 0;
    default: return false;
  }
}

bool SpoolReader::apply_names(const char* payload, std::size_t payload_bytes, SpoolBatch& batch) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  if (payload_bytes < kWord || load<std::uint32_t>(payload) != names_) return false;
  std::size_t at = kWord;
  while (at < payload_bytes) {
    if (payload_bytes - at < kWord) return false;
    const std::size_t length = load<std::uint32_t>(payload + at);
    at += kWord;
    if (length > payload_bytes - at) return false;
    batch.new_names.emplace_back(payload + at, length);
    at += length;
    ++names_;
  }
  return true;
}

bool SpoolReader::apply_spans(const char* payload, std::size_t payload_bytes, SpoolBatch& batch) {
  return append(batch.spans, payload, payload_bytes, [this](const Span& span, std::size_t place) {
    if (is_valid(span, names_)) return true;
    leave_out("span", place, why_invalid(span, names_));
    return false;
  });
}

bool SpoolReader::apply_scalars(const char* payload, std::size_t payload_bytes, SpoolBatch& batch) {
  return append(batch.scalars, payload, payload_bytes, [this](const Scalar& scalar, std::size_t place) {
    const std::string why = why_invalid({.name_id = scalar.name_id, .step = scalar.step}, names_);
    if (!why.empty()) leave_out("scalar", place, why);
    return why.empty();
  });
}

void SpoolReader::leave_out(const char* what, std::size_t place, const std::string& why) {
  if (invalid_++ == 0) {
    first_invalid_ = fmt::format("{} {} of the frame at offset {}: {}", what, place, offset_, why);
  }
}

bool SpoolReader::corrupt(const std::string& what) {
  corruption_ = fmt::format("cannot read spool {} at offset {}: {}{}", file_.string(), offset_, what,
                            offset_ > 0 ? "; what stands before it is good" : "");
  return false;
}

void SpoolReader::throw_corruption() const {
  throw Error(ErrorCode::kRunFailed, corruption_, 0, "read " + file_.string());
}

void SpoolReader::check_rank(int expected) const {
  if (frames_ == 0 || rank_ == expected) return;
  throw Error(ErrorCode::kRunFailed,
              fmt::format("the spool {} says that it is of rank {}, not of rank {}: it is not used",
                          file_.string(), rank_, expected),
              0, "read " + file_.string());
}

}  // namespace ddbench::host
