#pragma once

#include <cstdint>
#include <string>

#include "core/run_case/run_case.h"

namespace ddbench::ddp {

/// Steps that run before a graph is captured: in them libraries choose their algorithms, operators get their
/// memory, kernels are loaded, and every kind of step comes up once (GradientNoise has one of four).
inline constexpr std::uint32_t kStepsBeforeCapture = 4;

/// Why the case's forward and backward are not captured as a CUDA graph, in words; empty if they can be. Does
/// not depend on the number of ranks: the runs that a scaling curve compares are captured in the same way.
std::string why_no_graph(const RunCase& run_case);

}  // namespace ddbench::ddp
