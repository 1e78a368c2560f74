#pragma once

#include <cstdint>
#include <string_view>

namespace ddbench {

inline constexpr std::uint64_t kHashBegin = 0xcbf2'9ce4'8422'2325ULL;

/// FNV-1a, 64 bits: the same for the same bytes, here and on the next machine, and no more than that. `hash`
/// goes on from the bytes before.
constexpr std::uint64_t hash_text(std::string_view text, std::uint64_t hash = kHashBegin) noexcept {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ULL;
  return hash;
}

}  // namespace ddbench
