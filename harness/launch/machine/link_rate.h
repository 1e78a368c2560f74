#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ddbench::launch {

/// A link's rate in bits on the wire (Ethernet frames) a second.
struct LinkRate {
  std::int64_t bits_per_s = 0;
  friend bool operator==(LinkRate, LinkRate) = default;
};

inline constexpr LinkRate kHighestEmulatedRate{100'000'000'000};

/// Reads "100mbit", "2.5gbit", "10gbit": a decimal number and kbit, mbit or gbit (powers of 1000), from 1mbit
/// to `highest`, 100,000gbit at most. Anything else raises Error{kBadInput} naming the allowed values.
LinkRate parse_link_rate(std::string_view text, LinkRate highest = kHighestEmulatedRate);

/// The shortest form that parse_link_rate reads back to the same rate: "1gbit", "2.5gbit", "100mbit".
std::string to_string(LinkRate rate);

}  // namespace ddbench::launch
