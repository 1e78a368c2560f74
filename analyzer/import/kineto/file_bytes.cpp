#include "analyzer/import/kineto/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/import/kineto/read_ahead.h"
#include "core/error.h"
#include "core/text/text_hash.h"
#include "core/unique_handle.h"

namespace ddbench::imports {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{128} << 10;
constexpr int kWindowBitsOfGzip = 15 + 16;
// From here on a thread of its own pays for itself.
constexpr off_t kReadAheadFromBytes = off_t{256} << 10;
// Traces inflate to ten to thirty times their size; zeros to a thousand times.
constexpr std::uint64_t kInflatedUnchecked = 1'000'000'000;
constexpr std::uint64_t kMostInflated = 200;
constexpr std::size_t kInflatedForHash = std::size_t{16} << 20;

}  // namespace

class FileBytes::Impl {
 public:
  explicit Impl(const std::filesystem::path& file) : file_(file), block_(kBlockBytes) {
    fd_ = UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (fd_.get() < 0 || ::fstat(fd_.get(), &status) != 0) fail(std::generic_category().message(errno));
    if (S_ISDIR(status.st_mode)) fail("it is a folder");
    fill();
    is_gzip_ = size_ >= 2 && block_[0] == 0x1f && block_[1] == 0x8b;
    if (is_gzip_ && ::inflateInit2(&stream_, kWindowBitsOfGzip) != Z_OK) fail("there is no memory to inflate it");
    if (S_ISREG(status.st_mode) && status.st_size >= kReadAheadFromBytes)
      ahead_.emplace([this](char* to, std::size_t size) { return produce(to, size); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    ahead_.reset();
    if (is_gzip_) ::inflateEnd(&stream_);
  }

  std::size_t read(char* to, std::size_t size) { return ahead_ ? ahead_->read(to, size) : produce(to, size); }

  /// From now on the rest of the file is read and not inflated.
  void inflate_no_more() { is_rest_raw_ = true; }

  std::uint64_t hash_ = kHashBegin;
  std::filesystem::path file_;

 private:
  std::size_t produce(char* to, std::size_t size) {
    if (!is_gzip_) return copy(to, size);
    if (!is_rest_raw_) return inflate(to, size);
    while (size_ > 0) fill();
    return 0;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{} cannot be read: {}", file_.string(), why), 0, file_.string());
  }

  /// The next block; leaves size_ at 0 at the end.
  void fill() {
    ssize_t got = 0;
    do {
      got = ::read(fd_.get(), block_.data(), block_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail(std::generic_category().message(errno));
    at_ = 0;
    size_ = static_cast<std::size_t>(got);
    taken_ += size_;
    hash_ = hash_text({reinterpret_cast<const char*>(block_.data()), size_}, hash_);
  }

  std::size_t copy(char* to, std::size_t size) {
    if (at_ == size_) fill();
    const std::size_t count = std::min(size, size_ - at_);
    std::memcpy(to, block_.data() + at_, count);
    at_ += count;
    return count;
  }

  std::size_t inflate(char* to, std::size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, kBlockBytes * 64));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (at_ == size_) fill();
      if (size_ == 0) {
        if (member_ended_) return 0;
        fail(fmt::format("it ends within its gzip data, after {} bytes: it was cut off", taken_));
      }
      if (std::exchange(member_ended_, false)) ::inflateReset(&stream_);
      stream_.next_in = block_.data() + at_;
      stream_.avail_in = static_cast<uInt>(size_ - at_);
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      at_ = size_ - stream_.avail_in;
      member_ended_ = result == Z_STREAM_END;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        fail(fmt::format("its gzip data is damaged at byte {}: {}", taken_ - (size_ - at_),
                         stream_.msg != nullptr ? stream_.msg : "no such block"));
      }
    }
    inflated_ += wanted - stream_.avail_out;
    if (inflated_ > kInflatedUnchecked && inflated_ / kMostInflated > taken_)
      fail(fmt::format("its gzip data inflates to more than {} times its size: this is no trace", kMostInflated));
    return wanted - stream_.avail_out;
  }

  UniqueFd fd_;
  std::vector<unsigned char> block_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t inflated_ = 0;
  std::atomic<bool> is_rest_raw_ = false;
  bool is_gzip_ = false;
  bool member_ended_ = false;
  z_stream stream_{};
  std::optional<ReadAhead> ahead_;
};

FileBytes::FileBytes(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
FileBytes::FileBytes(FileBytes&&) noexcept = default;
FileBytes::~FileBytes() = default;

std::size_t FileBytes::read(char* to, std::size_t size) {
  return impl_->read(to, size);
}
std::uint64_t FileBytes::hash() {
  std::vector<char> rest(kBlockBytes);
  std::size_t inflated = 0;
  for (std::size_t got = 1; got > 0; inflated += got) {
    got = impl_->read(rest.data(), rest.size());
    if (inflated > kInflatedForHash) impl_->inflate_no_more();
  }
  return impl_->hash_;
}
const std::filesystem::path& FileBytes::file() const noexcept {
  return impl_->file_;
}

}  // namespace ddbench::imports
