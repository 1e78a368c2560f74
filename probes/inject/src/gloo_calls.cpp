// Stands before the collectives of Gloo as Debian's PyTorch calls them: through libgloo.so. Being the
// functions that Gloo's options name as friends, these may read them.
#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/context.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>
#include <gloo/transport/unbound_buffer.h>

#include <map>
#include <mutex>
#include <numeric>

#include "original.h"
#include "session.h"

namespace {

using ddbench::inject::Call;
using ddbench::inject::CallName;

// Ranks use their contexts in the same order. PyTorch gives each collective of a context a tag of its own,
// the same on all ranks, and several of its threads run them in any order. Who leaves the tag at 0 runs them
// one after another: these are counted.
std::uint64_t key_of(const gloo::Context* context, std::uint32_t tag) {
  struct Uses {
    std::uint16_t communicator = 0;
    std::uint32_t untagged = 0;
  };
  constexpr std::uint64_t kHalf = (std::uint64_t{1} << 24) - 1;
  static std::mutex mutex;
  static std::map<const gloo::Context*, Uses> contexts;
  const std::lock_guard lock(mutex);
  Uses& uses = contexts[context];
  if (uses.communicator == 0) uses.communicator = static_cast<std::uint16_t>(contexts.size());
  const std::uint32_t use = tag == 0 ? uses.untagged++ : 0;
  return ddbench::collective_key(uses.communicator, ((tag & kHalf) << 24 | (use & kHalf)) + 1);
}

std::uint64_t size_of(const std::unique_ptr<gloo::transport::UnboundBuffer>& buffer) {
  return buffer ? buffer->size : 0;
}

constexpr auto kGloo = {"libgloo.so.0", "libgloo.so"};

}  // namespace

namespace gloo {

void allreduce(const AllreduceOptions& options) {
  const auto& impl = options.impl_;
  const Call call(CallName::kAllReduce, impl.elements * impl.elementSize,
                  key_of(impl.context.get(), impl.tag));
  ddbench::inject::original<static_cast<void (*)(const AllreduceOptions&)>(&allreduce)>(kGloo)(options);
}

void allgather(AllgatherOptions& options) {
  const Call call(CallName::kAllGather, size_of(options.out), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AllgatherOptions&)>(&allgather)>(kGloo)(options);
}

void allgatherv(AllgathervOptions& options) {
  const Call call(CallName::kAllGather, size_of(options.out), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AllgathervOptions&)>(&allgatherv)>(kGloo)(options);
}

void broadcast(BroadcastOptions& options) {
  const Call call(CallName::kBroadcast, options.elements * options.elementSize,
                  key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(BroadcastOptions&)>(&broadcast)>(kGloo)(options);
}

void barrier(BarrierOptions& options) {
  const Call call(CallName::kBarrier, 0, key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(BarrierOptions&)>(&barrier)>(kGloo)(options);
}

void reduce(ReduceOptions& options) {
  const Call call(CallName::kReduce, options.elements * options.elementSize,
                  key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(ReduceOptions&)>(&reduce)>(kGloo)(options);
}

void gather(GatherOptions& options) {
  const std::uint64_t all = size_of(options.in) * static_cast<std::uint64_t>(options.context->size);
  const Call call(CallName::kGather, all, key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(GatherOptions&)>(&gather)>(kGloo)(options);
}

void scatter(ScatterOptions& options) {
  const std::uint64_t all = size_of(options.out) * static_cast<std::uint64_t>(options.context->size);
  const Call call(CallName::kScatter, all, key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(ScatterOptions&)>(&scatter)>(kGloo)(options);
}

void alltoall(AlltoallOptions& options) {
  const Call call(CallName::kAllToAll, size_of(options.in), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AlltoallOptions&)>(&alltoall)>(kGloo)(options);
}

void alltoallv(AlltoallvOptions& options) {
  const Call call(CallName::kAllToAll, size_of(options.in), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AlltoallvOptions&)>(&alltoallv)>(kGloo)(options);
}

}  // namespace gloo
