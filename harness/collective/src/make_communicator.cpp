#include <fmt/format.h>

#include "ddbench/collective/communicator.h"
#include "ddbench/module/module.h"
#include "ddbench/record/error.h"
#include "single_rank.h"

namespace ddbench::collective {

namespace {

void require_known(std::string_view backend) {
  if (backend == "gloo") return;
  throw Error(ErrorCode::kBadInput, fmt::format("backend \"{}\" is not known; backends: gloo", backend));
}

CommunicatorFactory* open_backend() {
  return module::open_module<CommunicatorFactory>({.file = "ddbench_collective_gloo.so",
                                                   .interface = kCommunicatorInterface,
                                                   .purpose = "the gloo backend",
                                                   .build_package = "libgloo-dev",
                                                   .runtime_package = "Gloo (libgloo0)"});
}

}  // namespace

void check_backend(std::string_view backend) {
  require_known(backend);
  open_backend();
}

std::unique_ptr<Communicator> make_communicator(std::string_view backend, const CommunicatorOptions& options,
                                                KeyValueStore& rendezvous) {
  require_known(backend);
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size) {
    throw Error(ErrorCode::kBadInput, fmt::format("rank {} does not belong to a world of {} ranks",
                                                  options.rank, options.world_size));
  }
  if (options.world_size == 1) return std::make_unique<SingleRank>(options.id);
  return open_backend()(options, rendezvous);
}

}  // namespace ddbench::collective
