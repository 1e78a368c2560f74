#include "probes/recorder/spool_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "probes/recorder/spool_format.h"

namespace ddbench::host {
namespace {

constexpr std::size_t kMaxScalarsPerFrame = 1u << 16;
constexpr std::size_t kFullNamesFrame = 1u << 20;  // bytes; the name that passes it is the frame's last

template <typename T>
void append_bytes(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string free_space(int fd) {
  struct statvfs fs {};
  if (::fstatvfs(fd, &fs) != 0) return "free space unknown";
  const double free_bytes = static_cast<double>(fs.f_bavail) * static_cast<double>(fs.f_frsize);
  return fmt::format("{:.1f} MB free", free_bytes / 1e6);
}

}  // namespace

SpoolWriter::SpoolWriter(std::filesystem::path file, int rank, std::string_view run_id)
    : file_(std::move(file)) {
  open_locked();
  try {
    write_head(rank, run_id);
  } catch (const Error&) {
    if (regular_) ::unlink(file_.c_str());
    throw;
  }
}

void SpoolWriter::write_head(int rank, std::string_view run_id) {
  const SpoolPreamble preamble;
  write_all(&preamble, sizeof(preamble), nullptr, 0);
  std::string payload(sizeof(std::int32_t), '\0');
  const std::int32_t stored_rank = rank;
  std::memcpy(payload.data(), &stored_rank, sizeof(stored_rank));
  payload += run_id;
  write(kRunFrame, payload.data(), payload.size());
}

void SpoolWriter::open_locked() {
  fd_.reset(::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd_) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("cannot create spool {}: {}; its directory must exist and be writable",
                            file_.string(), std::strerror(errno)),
                errno, "open " + file_.string());
  }
  // File systems without locks refuse with other codes: the lock only guards against a mistake.
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(
        ErrorCode::kEnvironment,
        fmt::format("spool {} is being written by another process: every rank needs a file of its own",
                    file_.string()),
        errno, "flock " + file_.string());
  }
  struct stat status {};
  regular_ = ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (regular_ && ::ftruncate(fd_.get(), 0) != 0) fail(errno);
}

void SpoolWriter::write_names(std::span<const std::string> names) {
  for (std::size_t at = 0; at < names.size();) {
    std::string payload;
    append_bytes(payload, names_);
    for (; at < names.size() && payload.size() < kFullNamesFrame; ++at, ++names_) {
      append_bytes(payload, static_cast<std::uint32_t>(names[at].size()));
      payload += names[at];
    }
    write(kNamesFrame, payload.data(), payload.size());
  }
}

void SpoolWriter::write_spans(std::span<const Span> spans) {
  for (; !spans.empty(); spans = spans.subspan(std::min(spans.size(), kMaxSpansPerFrame))) {
    const std::size_t count = std::min(spans.size(), kMaxSpansPerFrame);
    write(kSpansFrame, spans.data(), count * sizeof(Span));
  }
}

void SpoolWriter::write_scalars(std::span<const Scalar> scalars) {
  for (; !scalars.empty(); scalars = scalars.subspan(std::min(scalars.size(), kMaxScalarsPerFrame))) {
    const std::size_t count = std::min(scalars.size(), kMaxScalarsPerFrame);
    write(kScalarsFrame, scalars.data(), count * sizeof(Scalar));
  }
}

void SpoolWriter::write_dropped(std::uint64_t spans) {
  write(kDroppedFrame, &spans, sizeof(spans));
}

void SpoolWriter::write_end() {
  write(kEndFrame, nullptr, 0);
}

void SpoolWriter::write(std::uint32_t frame_type, const void* payload, std::size_t payload_bytes) {
  FrameHeader header;
  header.type = frame_type;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.sequence = frames_;
  header.payload_check = spool_checksum(payload, payload_bytes);
  header.header_check = header_checksum(header);
  write_all(&header, sizeof(header), payload, payload_bytes);
  ++frames_;
}

void SpoolWriter::write_all(const void* head, std::size_t head_bytes, const void* body,
                            std::size_t body_bytes) {
  std::array<iovec, 2> parts = {iovec{const_cast<void*>(head), head_bytes},
                                iovec{const_cast<void*>(body), body_bytes}};
  std::size_t left = head_bytes + body_bytes;
  while (left > 0) {
    const ssize_t written = ::writev(fd_.get(), parts.data(), static_cast<int>(parts.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    std::size_t taken = static_cast<std::size_t>(written);
    left -= taken;
    for (iovec& part : parts) {
      const std::size_t from_part = std::min(taken, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + from_part;
      part.iov_len -= from_part;
      taken -= from_part;
    }
  }
}

void SpoolWriter::close() {
  const int fd = fd_.release();
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail(errno);
}

void SpoolWriter::fail(int errno_value) const {
  const std::string space = fd_ ? free_space(fd_.get()) : "free space unknown";
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format("cannot write spool {}: {} ({}); free space there or put the run's directory on another "
                  "file system",
                  file_.string(), std::strerror(errno_value), space),
      errno_value, "write " + file_.string());
}

}  // namespace ddbench::host
