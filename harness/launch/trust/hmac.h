#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/unique_handle.h"

/// HMAC-SHA-256, random bytes and base64 from OpenSSL. Texts are bytes.
namespace ddbench::launch {

inline constexpr std::size_t kDigestBytes = 32;

/// HMAC-SHA-256 under one key, for many texts.
class KeyedHash {
 public:
  /// Throws Error{kEnvironment} when OpenSSL refuses.
  explicit KeyedHash(std::string_view key);

  /// The 32 bytes of HMAC-SHA-256 of the parts in a row. The parts are not delimited: callers use parts of
  /// fixed length, or put lengths before them.
  std::string of(std::initializer_list<std::string_view> parts) const;

 private:
  UniqueHandle<EVP_MAC_CTX, EVP_MAC_CTX_free> keyed_;
};

/// Takes as long wherever the difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// Throws Error{kEnvironment} when the system has no random numbers.
std::string random_bytes(std::size_t count);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace ddbench::launch
