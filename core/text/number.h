#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace ddbench {

/// A number and the text behind it: "90d" is 90 and "d".
template <typename Number>
struct LeadingNumber {
  Number value;
  std::string_view rest;
};

/// The number that `text` begins with, in any locale. Nothing where there is none (blanks and "+" are none),
/// where it does not fit into Number, and where it is infinite or not a number.
template <typename Number>
std::optional<LeadingNumber<Number>> leading_number(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  Number value{};
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return LeadingNumber<Number>{value, {rest, static_cast<std::size_t>(end - rest)}};
}

/// The whole of `text` as a number, as leading_number.
template <typename Number>
std::optional<Number> number_from(std::string_view text) noexcept {
  const auto number = leading_number<Number>(text);
  return number && number->rest.empty() ? std::optional(number->value) : std::nullopt;
}

}  // namespace ddbench
