#pragma once

#include <cstddef>
#include <string_view>

namespace ddbench::reports {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;  ///< bytes
  bool valid = false;  ///< false: one byte that starts no well-formed UTF-8 (overlong, surrogate, cut, ...)
};

/// The code point at the start of `text`, which must not be empty.
CodePoint first_code_point(std::string_view text);

/// Columns on a terminal: 2 for East Asian wide characters and emoji, 0 for combining marks, else 1.
std::size_t column_width(char32_t c);

/// The small letter of a capital one, of any script; other characters as they are.
char32_t lower_case(char32_t c);

/// Control and format characters and line separators: they are invisible, but change how other characters are
/// shown. The joiners inside emoji and Arabic or Indic words do not count.
bool is_invisible(char32_t c);

}  // namespace ddbench::reports
