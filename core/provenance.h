#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench {

/// How a number came to be (DESIGN: words). Values are stored as bits: append, never renumber.
enum class Provenance : std::uint8_t {
  kMeasured = 0,
  kEmulatedNetwork = 1,  ///< nodes are namespaces of one machine, or a link was shaped
  kOversubscribed = 2,   ///< more ranks than cores, ranks of other runs on its cores, or several ranks a GPU
  kReplayedCompute = 3,
  kImported = 4,
  kPredicted = 5,
};

/// A set of Provenance flags.
class ProvenanceSet {
 public:
  constexpr ProvenanceSet() = default;
  constexpr ProvenanceSet(std::initializer_list<Provenance> flags) {
    for (const Provenance flag : flags) add(flag);
  }
  constexpr void add(Provenance flag) noexcept { bits_ |= 1u << static_cast<unsigned>(flag); }
  constexpr bool has(Provenance flag) const noexcept { return (bits_ >> static_cast<unsigned>(flag)) & 1u; }
  constexpr std::uint32_t bits() const noexcept { return bits_; }
  static constexpr ProvenanceSet from_bits(std::uint32_t bits) noexcept {
    ProvenanceSet set;
    set.bits_ = bits;
    return set;
  }
  std::vector<std::string_view> names() const;  ///< in the order of the enumeration
  friend constexpr bool operator==(ProvenanceSet, ProvenanceSet) = default;

 private:
  std::uint32_t bits_ = 0;
};

std::string_view to_string(Provenance flag) noexcept;  ///< "measured", "emulated-network", ...

}  // namespace ddbench
