#pragma once

#include "analyzer/attribution/partition.h"
#include "core/cpu_wait.h"

namespace ddbench::analyzer {

/// Moves run-queue delay from the parts in which a rank's threads may have waited for a core to the CPU wait.
/// The kernel reports how long they waited in the step, but not when, and compute has priority in the
/// partition, so the delay is assumed to be spread evenly over the thread's activity:
/// - of the threads that communicate, the exposed share of their communication counts, taken from exposed
///   transfer, then from exposed peer wait;
/// - of the thread that trains, the delay lies first where it waits to be woken (idle); the rest is shared
///   out between compute, which keeps its share, and host.
/// Never more than the delay, and never more than those parts have. The parts sum to what they did before.
void book_cpu_wait(const CpuWait& wait, PartitionedStep& step);

}  // namespace ddbench::analyzer
