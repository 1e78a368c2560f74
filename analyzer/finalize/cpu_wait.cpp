#include "analyzer/finalize/cpu_wait.h"

#include <algorithm>

namespace ddbench::analyzer {
namespace {

using store::StepPart;

/// `whole` * part / of, rounded down; `of` may be 0.
std::int64_t share_of(std::int64_t whole_ns, std::int64_t part_ns, std::int64_t of_ns) {
  if (of_ns <= 0) return 0;
  return static_cast<std::int64_t>(static_cast<__int128>(whole_ns) * part_ns / of_ns);
}

/// Moves `wait_ns`, or as much as the part has; returns the remaining wait.
std::int64_t move_from(StepPart part, std::int64_t wait_ns, store::StepPartition& partition) {
  const std::int64_t moved_ns = std::clamp<std::int64_t>(wait_ns, 0, partition[part]);
  partition[part] -= moved_ns;
  partition[StepPart::kCpuWait] += moved_ns;
  return wait_ns - moved_ns;
}

}  // namespace

void book_cpu_wait(const CpuWait& wait, PartitionedStep& step) {
  store::StepPartition& parts = step.partition;
  const std::int64_t exposed_ns = parts.exposed_communication_ns();
  const std::int64_t communication_ns = std::min(wait.communication_ns, step.communication_ns);
  std::int64_t left_ns = share_of(communication_ns, exposed_ns, step.communication_ns);
  left_ns = move_from(StepPart::kExposedTransfer, left_ns, parts);
  move_from(StepPart::kExposedPeerWait, left_ns, parts);

  left_ns = move_from(StepPart::kIdle, wait.main_ns, parts);
  const std::int64_t host_ns = parts[StepPart::kHost];
  move_from(StepPart::kHost, share_of(left_ns, host_ns, parts.compute_ns() + host_ns), parts);
}

}  // namespace ddbench::analyzer
