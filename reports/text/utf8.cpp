#include "reports/text/utf8.h"

#include <utf8proc.h>

namespace ddbench::reports {
namespace {

constexpr char32_t kZeroWidthNonJoiner = 0x200c;
constexpr char32_t kZeroWidthJoiner = 0x200d;

}  // namespace

CodePoint first_code_point(std::string_view text) {
  utf8proc_int32_t value = -1;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (length <= 0) return {bytes[0], 1, false};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(length), true};
}

std::size_t column_width(char32_t c) {
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(c)));
}

char32_t lower_case(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

bool is_invisible(char32_t c) {
  if (c == kZeroWidthNonJoiner || c == kZeroWidthJoiner) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    default: return false;
  }
}

}  // namespace ddbench::reports
