#include "harness/launch/machine/link_rate.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/error.h"

namespace ddbench::launch {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t bits = 0;
};
constexpr std::array kUnits = {Unit{"kbit", 1'000}, Unit{"mbit", 1'000'000}, Unit{"gbit", 1'000'000'000}};
constexpr std::int64_t kLowest = 1'000'000;
constexpr std::size_t kMostDigits = 12;  // keeps the exact arithmetic below far from overflow

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "2.5" in units of `unit` bits, exactly; -1 when `number` is no decimal number or has a fraction of a bit.
std::int64_t scaled(std::string_view number, std::int64_t unit, std::int64_t highest) {
  std::int64_t value = 0;
  std::int64_t fraction_unit = 0;  // 0: no point seen yet
  if (number.empty() || number.size() > kMostDigits || !is_digit(number.front()) || !is_digit(number.back()))
    return -1;
  for (const char c : number) {
    if (c == '.' && fraction_unit == 0) {
      fraction_unit = unit;
    } else if (!is_digit(c)) {
      return -1;
    } else if (fraction_unit == 0) {
      value = value * 10 + (c - '0') * unit;
      if (value > highest) return -1;
    } else {
      if (fraction_unit % 10 != 0) return -1;
      fraction_unit /= 10;
      value += (c - '0') * fraction_unit;
    }
  }
  return value;
}

}  // namespace

LinkRate parse_link_rate(std::string_view text, LinkRate highest) {
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const std::int64_t bits = scaled(text.substr(0, text.size() - unit.name.size()), unit.bits, highest.bits_per_s);
    if (bits >= kLowest && bits <= highest.bits_per_s) return {bits};
  }
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "link is \"{}\", but it must be a rate from 1mbit to {}: a decimal number and kbit, mbit or "
          "gbit without a space, such as 100mbit, 2.5gbit or 10gbit",
          text, to_string(highest)),
      0, "link");
}

std::string to_string(LinkRate rate) {
  for (auto unit = kUnits.rbegin(); unit != kUnits.rend(); ++unit) {
    if (rate.bits_per_s < unit->bits) continue;
    std::string text = std::to_string(rate.bits_per_s / unit->bits);
    if (const std::int64_t rest = rate.bits_per_s % unit->bits; rest != 0) {
      std::string fraction = std::to_string(unit->bits + rest).substr(1);
      fraction.erase(fraction.find_last_not_of('0') + 1);
      text += "." + fraction;
    }
    return text + std::string(unit->name);
  }
  return std::to_string(rate.bits_per_s) + "bit";
}

}  // namespace ddbench::launch
