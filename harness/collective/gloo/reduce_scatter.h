#pragma once

#include <gloo/context.h>

#include <chrono>

#include "harness/collective/communicator.h"

namespace ddbench::collective::gloo_backend {

/// Communicator::reduce_scatter_sum as a ring of n - 1 hops of a chunk each, in segments, so that one is on
/// its way while another is added up. (Gloo of 2022 has it only for powers of two, with a copy of its own.)
/// Throws gloo's exceptions.
void ring_reduce_scatter(::gloo::Context& context, Elements input, Elements output,
                         std::chrono::milliseconds timeout);

}  // namespace ddbench::collective::gloo_backend
