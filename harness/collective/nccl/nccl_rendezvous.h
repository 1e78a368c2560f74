#pragma once

#include <nccl.h>

#include <chrono>
#include <vector>

#include "harness/collective/communicator.h"
#include "harness/collective/nccl/nccl_settings.h"

namespace ddbench::collective::nccl_backend {

inline constexpr std::chrono::seconds kConnectTimeout{60};

/// Where every rank is, by rank; `device` is this rank's GPU. All ranks call it. Throws as KeyValueStore.
std::vector<RankPlace> exchange_places(const CommunicatorOptions& options, int device,
                                       KeyValueStore& rendezvous);

/// The id that rank 0 gets from NCCL, for all ranks. Throws Error{kRunFailed} when NCCL has none.
ncclUniqueId exchange_id(const CommunicatorOptions& options, KeyValueStore& rendezvous);

}  // namespace ddbench::collective::nccl_backend
