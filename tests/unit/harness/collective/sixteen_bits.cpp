#include "sixteen_bits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace ddbench::test {
namespace {

struct Format {
  int mantissa_bits;
  int bias;
};

Format format_of(ElementType type) {
  return type == ElementType::kFloat16 ? Format{10, 15} : Format{7, 127};
}

std::vector<double> positive_numbers(ElementType type) {
  std::vector<double> numbers;
  for (std::uint16_t bits = 0; bits < 0x8000; ++bits) {
    const double value = value_of(type, bits);
    if (!std::isfinite(value)) break;
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace

double value_of(ElementType type, std::uint16_t bits) {
  const Format format = format_of(type);
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits & 0x7FFF) >> format.mantissa_bits;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
  if (exponent == 2 * format.bias + 1)
    return sign * (mantissa == 0 ? std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::quiet_NaN());
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - format.bias);
  return sign * std::ldexp(1 + fraction, exponent - format.bias);
}

std::uint16_t nearest(ElementType type, double value) {
  static const std::array<std::vector<double>, 2> kNumbers{positive_numbers(ElementType::kFloat16),
                                                           positive_numbers(ElementType::kBfloat16)};
  const auto& numbers = kNumbers[type == ElementType::kFloat16 ? 0 : 1];
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), magnitude);
  auto bits = static_cast<std::uint16_t>(above - numbers.begin());
  // Past the largest number the next of the row would be infinity.
  const double upper = above == numbers.end() ? 2 * numbers.back() - numbers[numbers.size() - 2] : *above;
  if (bits > 0 && upper != magnitude) {
    const double down = magnitude - numbers[bits - 1];
    const double up = upper - magnitude;
    if (down < up || (down == up && bits % 2 == 1)) --bits;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

Numbers::Numbers(ElementType type, std::int64_t count)
    : type_(type), count_(count), memory_(static_cast<std::size_t>(count * collective::size_of(type))) {}

double Numbers::at(std::int64_t i) const {
  if (type_ == ElementType::kFloat32) {
    float value;
    std::memcpy(&value, memory_.data() + 4 * i, 4);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, memory_.data() + 2 * i, 2);
  return value_of(type_, bits);
}

void Numbers::set(std::int64_t i, double value) {
  if (type_ == ElementType::kFloat32) {
    const auto single = static_cast<float>(value);
    std::memcpy(memory_.data() + 4 * i, &single, 4);
    return;
  }
  const std::uint16_t bits = nearest(type_, value);
  std::memcpy(memory_.data() + 2 * i, &bits, 2);
}

}  // namespace ddbench::test
