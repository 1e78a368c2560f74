#include "harness/launch/worker/machine_counting.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <utility>

namespace ddbench::launch {

void MachineCounting::report() noexcept {
  const std::unique_ptr<MachineCounters> meter = std::move(meter_);
  if (!meter) return;
  try {
    MachineCounts counts = meter->stop();
    session_.send(Counted{std::move(counts.facts), std::move(counts.notes)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "ddbench worker: cannot report machine counters: {}\n", error.what());
  }
}

}  // namespace ddbench::launch
