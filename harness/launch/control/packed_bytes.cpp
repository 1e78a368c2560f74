#include "harness/launch/control/packed_bytes.h"

#include <fmt/format.h>
#include <zstd.h>

#include "core/error.h"

namespace ddbench::launch {
namespace {

constexpr char kPlain = 0;
constexpr char kZstd = 1;
constexpr int kFast = 1;  // spools are counters and names: a higher level wins little

[[noreturn]] void refuse_packed(const std::string& why) {
  throw Error(ErrorCode::kRunFailed, fmt::format("packed bytes are not understood: {}", why), 0, "unpack");
}

}  // namespace

std::string pack(const collective::Bytes& bytes) {
  std::string packed(1 + ::ZSTD_compressBound(bytes.size()), kZstd);
  const std::size_t size =
      ::ZSTD_compress(packed.data() + 1, packed.size() - 1, bytes.data(), bytes.size(), kFast);
  if (::ZSTD_isError(size) == 0U && size < bytes.size()) {
    packed.resize(1 + size);
    return packed;
  }
  packed.assign(1, kPlain);
  packed.append(bytes.begin(), bytes.end());
  return packed;
}

collective::Bytes unpack(std::string_view packed, std::size_t most_bytes) {
  if (packed.empty()) refuse_packed("nothing is there");
  const std::string_view body = packed.substr(1);
  if (packed.front() == kPlain) {
    if (body.size() > most_bytes) refuse_packed("they are too many");
    return {body.begin(), body.end()};
  }
  if (packed.front() != kZstd) refuse_packed("they begin with neither 0 nor 1");
  const unsigned long long size = ::ZSTD_getFrameContentSize(body.data(), body.size());
  // Both words for "not known" are greater than any size.
  if (size > most_bytes) refuse_packed("their size is not stated, or too large");
  collective::Bytes bytes(size);
  if (::ZSTD_decompress(bytes.data(), bytes.size(), body.data(), body.size()) != size)
    refuse_packed("they are damaged");
  return bytes;
}

}  // namespace ddbench::launch
