#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ddbench::analyzer {

/// Values whose median is needed later. Keeps all of them up to kCapacity; after that every second, fourth,
/// ... value added, so that memory is bounded and the result does not depend on chance.
class BoundedSample {
 public:
  static constexpr std::size_t kCapacity = std::size_t{1} << 18;

  void add(std::int64_t value);
  /// 0 when nothing was added.
  std::int64_t median() const;

 private:
  std::vector<std::int64_t> values_;
  std::uint64_t added_ = 0;
  std::uint64_t stride_ = 1;
};

}  // namespace ddbench::analyzer
