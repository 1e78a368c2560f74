#include "harness/launch/remote/remote_launch.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/launch/remote/started_rank.h"
#include "harness/microbench/micro.h"

namespace ddbench::launch {
namespace {

constexpr int kSampledFromRanks = 32;

}  // namespace

StartedWorld started_world() {
  const Placement placement = read_placement(environment_variables());
  if (!placement.found()) {
    throw Error(
        ErrorCode::kBadInput,
        "--launcher env: no rank environment found (RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or a Slurm step)");
  }
  if (placement.world_size % placement.local_world_size != 0) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--launcher env: {} ranks, {} of them on this node: every node must have as many",
                            placement.world_size, placement.local_world_size));
  }
  return {placement.rank, placement.world_size / placement.local_world_size, placement.local_world_size};
}

bool reduces_spans(const RunCase& run_case, SentSpans spans) {
  const bool trains = is_reference(run_case);
  if (spans == SentSpans::kSampled && !trains) {
    throw Error(ErrorCode::kBadInput,
                "--spans sampled: only the reference workloads know their steps while they run");
  }
  return spans == SentSpans::kSampled ||
         (spans == SentSpans::kAuto && trains && run_case.world_size() >= kSampledFromRanks);
}

Endpoint report_endpoint(const LauncherOptions& options, const std::string& first_host) {
  if (!options.interface.empty()) return {address_of_interface(options.interface), options.port};
  if (first_host.empty()) return {"127.0.0.1", options.port};
  try {
    return {address_towards(first_host), options.port};
  } catch (const Error& error) {
    throw Error(
        error.code(),
        fmt::format("{}; name the interface that the ranks report to with --interface", error.message()),
        error.native_code(), error.where());
  }
}

}  // namespace ddbench::launch
