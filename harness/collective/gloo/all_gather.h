#pragma once

#include <gloo/context.h>

#include <chrono>

#include "harness/collective/communicator.h"

namespace ddbench::collective::gloo_backend {

/// Communicator::all_gather as a ring of n - 1 hops of a chunk each. Throws gloo's exceptions.
///
/// Gloo's own all-gather sends a chunk in two halves, and requests the second one after the data that it
/// sends itself: on a slow link one direction then waits for the other, half of the time, in some calls and
/// not in others (2 ranks over 100 Mbit/s, 1 MB: 64 ms or 43 ms). Here all receives are posted before
/// anything is sent.
void ring_all_gather(::gloo::Context& context, Elements input, Elements output, std::chrono::milliseconds timeout);

}  // namespace ddbench::collective::gloo_backend
