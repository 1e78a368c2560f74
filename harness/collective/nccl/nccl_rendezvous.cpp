#include "harness/collective/nccl/nccl_rendezvous.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "harness/device/gpu/gpu.h"

namespace ddbench::collective::nccl_backend {
namespace {

/// The machine, whatever namespaces the rank lives in.
std::string machine_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return fmt::format("{}/{}", host.data(), boot);
}

std::string gpu_uuid(int device) {
  cudaDeviceProp properties{};
  gpu::check(cudaGetDeviceProperties(&properties, device), "be described");
  std::string text;
  for (const char byte : properties.uuid.bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string key(const CommunicatorOptions& options, const std::string& what) {
  return fmt::format("nccl/{}/{}", options.id, what);
}

}  // namespace

std::vector<RankPlace> exchange_places(const CommunicatorOptions& options, int device,
                                       KeyValueStore& rendezvous) {
  const RankPlace own{machine_name(), options.address, gpu_uuid(device)};
  rendezvous.set(key(options, fmt::format("place/{}", options.rank)), bytes_of(own.text()));
  std::vector<RankPlace> places;
  for (const Bytes& text : rendezvous.get_all(key(options, "place/"), options.world_size, kConnectTimeout)) {
    places.push_back(RankPlace::parse({text.begin(), text.end()}));
  }
  return places;
}

ncclUniqueId exchange_id(const CommunicatorOptions& options, KeyValueStore& rendezvous) {
  ncclUniqueId unique_id{};
  if (options.rank == 0) {
    if (const ncclResult_t status = ncclGetUniqueId(&unique_id); status != ncclSuccess) {
      throw Error(ErrorCode::kRunFailed, fmt::format("NCCL cannot start: {}", ncclGetErrorString(status)),
                  status, "ncclGetUniqueId");
    }
    rendezvous.set(key(options, "id"),
                   Bytes(unique_id.internal, unique_id.internal + sizeof unique_id.internal));
    return unique_id;
  }
  const Bytes bytes = rendezvous.get(key(options, "id"), kConnectTimeout);
  if (bytes.size() != sizeof unique_id.internal) {
    throw Error(ErrorCode::kRunFailed, "rank 0 gave an id of NCCL that is none");
  }
  std::memcpy(unique_id.internal, bytes.data(), bytes.size());
  return unique_id;
}

}  // namespace ddbench::collective::nccl_backend
