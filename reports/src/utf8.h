#pragma once

#include <cstddef>
#include <string_view>

namespace ddbench::reports {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;  ///< bytes
  bool valid = false;  ///< false: one byte that begins no well-formed UTF-8 (overlong, surrogate, cut, ...)
};

/// The code point at the start of `text`, which must not be empty.
inline CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {lead, 1, false};
  char32_t value = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kSmallest[length] || value > 0x10ffff || surrogate) return {lead, 1, false};
  return {value, length, true};
}

}  // namespace ddbench::reports
