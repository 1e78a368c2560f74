#pragma once

#include <cstddef>

#include "analyzer/diagnose/own_work.h"

namespace ddbench::analyzer {

/// Work that is divided unevenly, in a different way in each step.
struct MovingImbalance {
  double lost_share = 0;            ///< lead of the slowest rank over the others' median / step time
  OwnPart part = OwnPart::kCompute;  ///< that takes most of the lead of each step's slowest rank
  double part_share = 0;            ///< of that lead
  double most_often = 0;            ///< share of steps in which the most frequent slowest rank was it
  /// The lead / the lead expected by chance among equal ranks: the other ranks of a step agree, and one
  /// stands out.
  double stands_out = 0;
  std::size_t steps = 0;
};

/// What the slowest rank of each step does longer than the others, whoever it is.
MovingImbalance moving_imbalance(const WorkTable& table);

/// Whether one rank at a time, and not always the same one, has more to compute or to read than the others,
/// whose works agree.
bool is_moving_imbalance(const MovingImbalance& found, std::size_t ranks);

}  // namespace ddbench::analyzer
