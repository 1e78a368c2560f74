#pragma once

#include <cstddef>
#include <vector>

#include "harness/model/layers/network.h"

namespace ddbench::workload {

/// What a network computes when: nodes forward, then backward; where segments are recomputed (Chen et al. 2016), the nodes of
/// a segment whose outputs its backward needs are computed again before it. Only what leaves a segment is kept in between.
struct NetworkSchedule {
  static constexpr int kNever = -1;

  struct Moment {
    std::size_t node = 0;
    bool again = false;  ///< computed again; else its backward
  };
  std::vector<Moment> after_forward;  ///< in order; node i's forward is moment i, these follow
  std::vector<int> again;             ///< by node: when it is computed again, or kNever
  std::vector<int> backward;          ///< by node
  std::vector<bool> recomputed;       ///< by value: it has other memory after forward, and other content in between
  int end = 0;                        ///< the last moment
};

NetworkSchedule schedule_of(const Network& network);
ParameterUses uses_of(const Network& network);

}  // namespace ddbench::workload
