#include "analyzer/import/trace/trace_notes.h"

#include <fmt/format.h>

#include <algorithm>

namespace ddbench::imports {

void note_compute(const TraceJob& job, const TraceOrigin& origin, store::RunRecord& run, std::vector<std::string>& notes) {
  if (job.traces.front().compute == ComputeSource::kNone) {
    notes.emplace_back("nothing that the program computed was recorded: communication that it hid behind that counts as exposed, "
                       "and the rest of a step as host time");
    return;
  }
  const bool has_kernels = job.traces.front().compute == ComputeSource::kKernels;
  notes.emplace_back(has_kernels
                         ? "compute is what kernels take on the GPU, by the pass that launched them; copies and fills of "
                           "memory are copies; host is operators and launches on the CPU where the GPU does nothing"
                         : "the traces have no kernels: compute is what PyTorch's operators take on the CPU");
  if (has_kernels || job.traces.front().info.devices == 0) return;
  run.valid = false;
  run.invalid_reason =
      fmt::format("the machine has GPUs and its trace no kernels: what was computed is not known ({})", origin.records_kernels_with);
}

void note_losses(const TraceJob& job, std::vector<std::string>& notes) {
  std::size_t without_launch = 0;
  std::size_t without_kernel = 0;
  std::size_t kernels = 0;
  for (const RankTrace& trace : job.traces) {
    without_launch += trace.kernels_without_launch;
    without_kernel += trace.launches_without_kernel;
    kernels += trace.kernels;
  }
  if (without_kernel > 0) {
    notes.push_back(fmt::format("{} kernels were launched and are not in the traces, which have {}: the profiler lost "
                                "events, and compute is more than what is shown",
                                without_kernel, kernels));
  }
  if (without_launch > 0) {
    notes.push_back(fmt::format("of {} of {} kernels the launch is not in the traces: whether they are forward, backward "
                                "or optimizer is not known",
                                without_launch, kernels));
  }
}

void note_sizes(const TraceJob& job, const TraceOrigin& origin, std::vector<std::string>& notes) {
  const auto lacks_size = [](const RankTrace& trace) {
    return std::any_of(trace.collectives.begin(), trace.collectives.end(), [&](const TraceCollective& collective) {
      return collective.function != "barrier" && trace.spans.spans[collective.span].bytes == 0;
    });
  };
  if (!std::any_of(job.traces.begin(), job.traces.end(), lacks_size)) return;
  notes.push_back(fmt::format("the traces do not say how many bytes some collectives moved, so that these have no bandwidth ({})",
                              origin.gives_sizes_with));
}

void note_clocks(const TraceJob& job, const std::vector<ClockMap>& clocks, std::vector<std::string>& notes) {
  if (std::all_of(clocks.begin(), clocks.end(), [](const ClockMap& clock) { return clock.shared_clock; })) return;
  std::int64_t widest_ns = 0;
  std::size_t not_compared = 0;
  for (std::size_t rank = 1; rank < clocks.size(); ++rank) {
    widest_ns = std::max(widest_ns, clocks[rank].uncertainty_ns());
    not_compared += clocks[rank].start.at_ns == 0 && !clocks[rank].shared_clock;
  }
  notes.push_back(
      not_compared > 0
          ? fmt::format("no collective ties the clocks of {} of {} traces to that of rank {}: waits for peers are not known",
                        not_compared, clocks.size(), job.ranks.front())
          : fmt::format("the clocks of the ranks were aligned by their collectives, to ±{:.3g} us",
                        static_cast<double>(widest_ns) / 1e3));
}

}  // namespace ddbench::imports
