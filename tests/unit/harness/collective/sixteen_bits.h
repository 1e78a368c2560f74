#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/collective/communicator.h"

namespace ddbench::test {

using collective::ElementType;

/// The 16-bit formats by their definition, with no arithmetic on bits in common with what is tested.
double value_of(ElementType type, std::uint16_t bits);

/// The number of the format nearest to `value`, ties to the even one; finite values only.
std::uint16_t nearest(ElementType type, double value);

/// Elements of a type in memory of their own, read and written as numbers.
class Numbers {
 public:
  Numbers(ElementType type, std::int64_t count);
  collective::Elements elements() noexcept { return {memory_.data(), count_, type_}; }
  double at(std::int64_t i) const;
  void set(std::int64_t i, double value);
  std::span<const char> bytes() const noexcept { return memory_; }

 private:
  ElementType type_;
  std::int64_t count_;
  std::vector<char> memory_;
};

}  // namespace ddbench::test
