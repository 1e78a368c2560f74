// Stands before the collectives of Gloo as PyTorch calls them: Debian's through
// libgloo.so, the wheels through the PLT of libtorch_cpu.so, which exports its own Gloo. Being the
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

#include "probes/preload/communicators.h"
#include "probes/preload/original.h"
#include "probes/preload/session.h"

namespace {

using ddbench::inject::Call;
using ddbench::inject::CallName;
using ddbench::inject::communicator_number;
using ddbench::inject::CommunicatorUse;

// How many ranks a context has. Its class, of one name, has a virtual destructor in Debian's Gloo and none in
// that of PyTorch's wheels (2.4 to 2.15), where its numbers are at its very beginning: the virtual table,
// which only the former has, distinguishes them. The options have the same layout in both.
const int* rank_and_size_of(const gloo::Context* context) {
  static const bool has_table = ddbench::inject::find_function_if_any("_ZTVN4gloo7ContextE") != nullptr;
  return reinterpret_cast<const int*>(context) + (has_table ? 2 : 0);
}

int ranks_of(const gloo::Context* context) {
  return rank_and_size_of(context)[1];
}

// A context states how many ranks it has, but not which: ranks use those of one size in the same order.
// PyTorch gives each collective of a context a tag of its own, the same on all ranks, and several of its
// threads run them in any order. Callers that leave the tag at 0 run them one after another: these are
// counted.
class Contexts {
 public:
  std::uint64_t key_of(const gloo::Context* context, std::uint32_t tag) {
    constexpr std::uint64_t kHalf = (std::uint64_t{1} << 24) - 1;
    const std::lock_guard lock(mutex_);
    CommunicatorUse& use = uses_[context];
    // Of another size it is another context, where one was that is gone.
    if (const int ranks = ranks_of(context); use.ranks != ranks)
      use = {communicator_number(kGlooKind + static_cast<std::uint64_t>(ranks), of_size_[ranks]++), ranks};
    ddbench::inject::report_size(use);
    ddbench::inject::report_place(rank_and_size_of(context)[0], use.ranks);
    const std::uint64_t place = tag == 0 ? use.collectives++ : 0;
    return ddbench::collective_key(use.number, ((tag & kHalf) << 24 | (place & kHalf)) + 1);
  }

 private:
  static constexpr std::uint64_t kGlooKind = std::uint64_t{'g'} << 56;
  std::mutex mutex_;
  std::map<const gloo::Context*, CommunicatorUse> uses_;
  std::map<int, std::uint64_t> of_size_;
};

std::uint64_t key_of(const gloo::Context* context, std::uint32_t tag) {
  static Contexts contexts;
  return contexts.key_of(context, tag);
}

std::uint64_t size_of(const std::unique_ptr<gloo::transport::UnboundBuffer>& buffer) {
  return buffer ? buffer->size : 0;
}

}  // namespace

namespace gloo {

void allreduce(const AllreduceOptions& options) {
  const auto& impl = options.impl_;
  const Call call(CallName::kAllReduce, impl.elements * impl.elementSize,
                  key_of(impl.context.get(), impl.tag));
  ddbench::inject::original<static_cast<void (*)(const AllreduceOptions&)>(&allreduce)>()(options);
}

void allgather(AllgatherOptions& options) {
  const Call call(CallName::kAllGather, size_of(options.out), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AllgatherOptions&)>(&allgather)>()(options);
}

void allgatherv(AllgathervOptions& options) {
  const Call call(CallName::kAllGather, size_of(options.out), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AllgathervOptions&)>(&allgatherv)>()(options);
}

void broadcast(BroadcastOptions& options) {
  const Call call(CallName::kBroadcast, options.elements * options.elementSize,
                  key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(BroadcastOptions&)>(&broadcast)>()(options);
}

void barrier(BarrierOptions& options) {
  const Call call(CallName::kBarrier, 0, key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(BarrierOptions&)>(&barrier)>()(options);
}

void reduce(ReduceOptions& options) {
  const Call call(CallName::kReduce, options.elements * options.elementSize,
                  key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(ReduceOptions&)>(&reduce)>()(options);
}

void gather(GatherOptions& options) {
  const std::uint64_t all = size_of(options.in) * static_cast<std::uint64_t>(ranks_of(options.context.get()));
  const Call call(CallName::kGather, all, key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(GatherOptions&)>(&gather)>()(options);
}

void scatter(ScatterOptions& options) {
  const std::uint64_t all = size_of(options.out) * static_cast<std::uint64_t>(ranks_of(options.context.get()));
  const Call call(CallName::kScatter, all, key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(ScatterOptions&)>(&scatter)>()(options);
}

void alltoall(AlltoallOptions& options) {
  const Call call(CallName::kAllToAll, size_of(options.in), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AlltoallOptions&)>(&alltoall)>()(options);
}

void alltoallv(AlltoallvOptions& options) {
  const Call call(CallName::kAllToAll, size_of(options.in), key_of(options.context.get(), options.tag));
  ddbench::inject::original<static_cast<void (*)(AlltoallvOptions&)>(&alltoallv)>()(options);
}

}  // namespace gloo
