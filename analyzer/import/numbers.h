#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddbench::imports {

std::string_view trimmed(std::string_view text) noexcept;
std::string lower_case(std::string_view text);

/// The whole text as a finite number; empty otherwise.
std::optional<double> number_from(std::string_view text) noexcept;
std::optional<std::int64_t> integer_from(std::string_view text) noexcept;

/// Nanoseconds of one unit of time: "ns", "us", "ms", "s", "min", "h", "d".
std::optional<double> nanoseconds_of(std::string_view unit) noexcept;

/// FNV-1a, 64 bits, as 16 hexadecimal digits.
std::string hash_text(std::string_view text);

}  // namespace ddbench::imports
