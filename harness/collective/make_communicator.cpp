#include <fmt/format.h>

#include "core/error.h"
#include "harness/collective/communicator.h"
#include "harness/collective/single_rank.h"
#include "harness/plugin/module.h"

namespace ddbench::collective {

namespace {

module::ModuleRequest request_of(std::string_view backend) {
  if (backend == "gloo") {
    return {.file = "ddbench_collective_gloo.so",
            .interface = kCommunicatorInterface,
            .purpose = "the gloo backend",
            .build_package = "libgloo-dev",
            .runtime_package = "Gloo (libgloo0)"};
  }
  if (backend == "nccl") {
    return {.file = "ddbench_collective_nccl.so",
            .interface = kCommunicatorInterface,
            .purpose = "the nccl backend",
            .build_package = "the CUDA Toolkit and NCCL",
            .runtime_package = "NCCL (libnccl.so.2), or name its folder in LD_LIBRARY_PATH",
            .needs_cuda = true};
  }
  if (backend == "mpi") {
    return {.file = "ddbench_collective_mpi.so",
            .interface = kCommunicatorInterface,
            .purpose = "the mpi backend",
            .build_package = "libopenmpi-dev",
            .runtime_package = "Open MPI (libopenmpi3)"};
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("backend \"{}\" is not known; backends: gloo, mpi, nccl", backend));
}

}  // namespace

void check_backend(std::string_view backend) {
  module::open_module<CommunicatorFactory>(request_of(backend));
}

std::unique_ptr<Communicator> make_communicator(std::string_view backend, const CommunicatorOptions& options,
                                                KeyValueStore& rendezvous) {
  const module::ModuleRequest request = request_of(backend);
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size) {
    throw Error(ErrorCode::kBadInput, fmt::format("rank {} does not belong to a world of {} ranks",
                                                  options.rank, options.world_size));
  }
  if (options.world_size == 1) return std::make_unique<SingleRank>(options.id);
  return module::open_module<CommunicatorFactory>(request)(options, rendezvous);
}

}  // namespace ddbench::collective
