#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/collective/key_value_store.h"

namespace ddbench::launch {

/// `bytes` as they travel: a frame of zstd behind a 1, or, where that would not be shorter, themselves behind
/// a 0.
std::string pack(const collective::Bytes& bytes);

/// Inverse of pack. Throws Error{kRunFailed} on what pack could not have made, and on more than `most_bytes`,
/// before it takes memory for them.
collective::Bytes unpack(std::string_view packed, std::size_t most_bytes);

}  // namespace ddbench::launch
