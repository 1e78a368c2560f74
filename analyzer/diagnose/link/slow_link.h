#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/diagnose/link/link_uses.h"

namespace ddbench::analyzer {

/// From one node to another, in a stretch of time that all directions have in common.
struct DirectionUse {
  int from_node = 0;
  int to_node = 0;
  std::vector<double> bytes;    ///< by stretch
  std::vector<double> busy_ns;  ///< same indices
};

/// What goes from node to node, in stretches between readings: of a run 40 at most, `ends` are the last steps of each.
/// Directions that carry less than a twentieth of the busiest one are left out: answers and barriers.
struct LinkTable {
  std::vector<DirectionUse> directions;
  std::uint32_t first_step = 0;  ///< of the first stretch
  std::vector<std::uint32_t> ends;
};
LinkTable link_table(std::span<const LinkUse> uses);

/// A link that is slower than the others. Which is it: of a whole node (both directions that are used, to and from all others),
/// between two nodes, or from one node to another.
struct SlowLink {
  enum class Kind : std::uint8_t { kNode, kPair, kDirection };
  Kind kind = Kind::kNode;
  int node = 0;
  int to_node = -1;       ///< of kPair and kDirection
  double ratio = 0;       ///< its rate / that of the others (medians)
  double rate = 0;        ///< bytes a nanosecond while it was busy
  double others_rate = 0;
  double excess_ns = 0;   ///< per step: extra time busy compared with the others' rate, largest direction
  std::size_t first = 0;  ///< stretches [first, end) of the table
  std::size_t end = 0;
  std::uint32_t first_step = 0;
  std::uint32_t last_step = 0;
};

/// Below these no link is named.
struct SlowLinkLimits {
  double most_ratio = 0.75;         ///< of every direction that is named to the median of the others, over the window
  double most_ratio_for_a_while = 0.6;  ///< the same, for less than four in five of the stretches
  double least_apart = 1.25;        ///< any other direction is faster than any that is named by this factor; of a node with four or more, nine in ten
  double most_in_stretch = 0.85;    ///< in a stretch that counts as slow, which four in five of the window are
  std::size_t least_stretches = 6;  ///< and a fifth of all: what passes is no bad link
};

/// The link that costs a step most. Nothing if no link is slower throughout a window, if every direction is
/// equally slow (there is no reference), or if the slow ones have no node in common.
std::optional<SlowLink> find_slow_link(const LinkTable& table, const SlowLinkLimits& limits = {});

}  // namespace ddbench::analyzer
