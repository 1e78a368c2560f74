#include "harness/launch/trust/hmac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "core/error.h"

namespace ddbench::launch {
namespace {

using Mac = UniqueHandle<EVP_MAC, EVP_MAC_free>;
using MacContext = UniqueHandle<EVP_MAC_CTX, EVP_MAC_CTX_free>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

void check_openssl(bool succeeded) {
  if (succeeded) return;
  throw Error(ErrorCode::kEnvironment, "OpenSSL cannot compute HMAC-SHA-256 on this machine", 0, "OpenSSL");
}

}  // namespace

KeyedHash::KeyedHash(std::string_view key) {
  const Mac mac(::EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr));
  check_openssl(mac != nullptr);
  keyed_.reset(::EVP_MAC_CTX_new(mac.get()));
  check_openssl(keyed_ != nullptr);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {::OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                   ::OSSL_PARAM_construct_end()};
  // A null key means "none yet" to OpenSSL, also with a length of 0.
  const std::string_view given = key.empty() ? std::string_view("") : key;
  check_openssl(::EVP_MAC_init(keyed_.get(), bytes_of(given), given.size(), parameters) == 1);
}

std::string KeyedHash::of(std::initializer_list<std::string_view> parts) const {
  // OpenSSL before 3.0.3 does not begin anew with the old key: a copy does in every version.
  const MacContext context(::EVP_MAC_CTX_dup(keyed_.get()));
  check_openssl(context != nullptr);
  for (const std::string_view part : parts) {
    check_openssl(::EVP_MAC_update(context.get(), bytes_of(part), part.size()) == 1);
  }
  std::string digest(kDigestBytes, '\0');
  std::size_t bytes = 0;
  check_openssl(::EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(digest.data()), &bytes,
                                digest.size()) == 1 &&
                bytes == kDigestBytes);
  return digest;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (::RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1)
    return bytes;
  throw Error(ErrorCode::kEnvironment, "the system has no random numbers", 0, "RAND_bytes");
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a 0
  const int length = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace ddbench::launch
