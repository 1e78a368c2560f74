#pragma once

#include <fmt/format.h>

#include <string>

#include "core/run_case/run_case.h"

namespace ddbench::analyzer {

/// "1 GPU", "4 GPUs"
inline std::string gpus(int count) {
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

/// Whether the case is known to be on one node.
inline bool is_one_node(const CasePlacement& placement) {
  return placement.nodes == 1 && !placement.nodes_not_stated;
}

/// "2 × 8", nodes by GPUs of each; "16 GPUs" where the nodes are not stated.
inline std::string shape_label(const CasePlacement& placement) {
  return placement.nodes_not_stated ? gpus(placement.world_size()) : fmt::format("{} × {}", placement.nodes, placement.gpus_per_node);
}

}  // namespace ddbench::analyzer
