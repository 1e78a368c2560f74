#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>

#include "nccl_ranks.h"

namespace ddbench::cuda_on_host {

enum class NcclFunction { kAllReduce, kBroadcast, kReduce, kReduceScatter, kAllGather, kSend, kRecv };

struct NcclCall {
  NcclFunction function;
  const void* input;
  void* output;
  std::size_t count;  ///< as NCCL counts: of the smaller one where input and output differ
  ncclDataType_t type;
  int peer;  ///< or root
};

inline bool is_collective(const NcclCall& call) noexcept {
  return call.function < NcclFunction::kSend;
}
/// Bytes of an element; 0 for types that are not played here.
std::size_t size_of(ncclDataType_t type) noexcept;

/// A call under way, once.
class NcclTransfer {
 public:
  explicit NcclTransfer(const NcclCall& call) : call_(call) {}

  const NcclCall& call() const noexcept { return call_; }
  /// Advances as far as possible without waiting and adds to `awaited` the ranks for which it then waits;
  /// none when it is finished and returns true.
  bool advance(NcclRanks& ranks, RankSet& awaited);
  /// Grows while it goes on.
  std::size_t position() const noexcept { return 2 * done_ + (is_published_ ? 1 : 0); }

 private:
  bool go_round(NcclRanks& ranks, RankSet& awaited);
  std::size_t elements(const NcclRanks& ranks) const noexcept;
  void put(const NcclRanks& ranks, std::uint64_t round) const;
  void take(const NcclRanks& ranks, std::uint64_t round) const;

  NcclCall call_;
  std::size_t done_ = 0;  ///< elements of a collective, bytes between two ranks
  bool is_published_ = false;
};

}  // namespace ddbench::cuda_on_host
