#include "nccl_calls.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "numbers.h"

namespace ddbench::cuda_on_host {
namespace {

/// The ranks' elements from `first` of their slots on, added in the order of the ranks.
template <typename T>
void sum(const NcclRanks& ranks, std::uint64_t round, std::size_t first, std::size_t count, void* output) {
  constexpr std::size_t kBlock = 256;
  std::array<float, kBlock> sums;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t some = std::min(kBlock, count - begin);
    sums.fill(-0.0F);  // the one number that adds nothing to either zero
    for (int rank = 0; rank < ranks.count(); ++rank) {
      const T* const values = reinterpret_cast<const T*>(ranks.slot(rank, round)) + first + begin;
      for (std::size_t i = 0; i < some; ++i) sums[i] += widened(values[i]);
    }
    for (std::size_t i = 0; i < some; ++i) narrow(sums[i], static_cast<T*>(output)[begin + i]);
  }
}

auto* sum_of(ncclDataType_t type) {
  return type == ncclFloat16 ? sum<__half> : type == ncclBfloat16 ? sum<__nv_bfloat16> : sum<float>;
}

}  // namespace

std::size_t size_of(ncclDataType_t type) noexcept {
  return type == ncclFloat32 ? 4 : type == ncclFloat16 || type == ncclBfloat16 ? 2 : 0;
}

/// Of this round.
std::size_t NcclTransfer::elements(const NcclRanks& ranks) const noexcept {
  std::size_t most = ranks.slot_size() / size_of(call_.type);
  if (call_.function == NcclFunction::kReduceScatter) most /= static_cast<std::size_t>(ranks.count());
  return std::min(most, call_.count - done_);
}

void NcclTransfer::put(const NcclRanks& ranks, std::uint64_t round) const {
  const std::size_t size = size_of(call_.type);
  const std::size_t some = elements(ranks) * size;
  const auto* const input = static_cast<const std::byte*>(call_.input) + done_ * size;
  std::byte* const slot = ranks.slot(ranks.rank(), round);
  const int parts = call_.function == NcclFunction::kReduceScatter ? ranks.count() : 1;
  for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
    std::memcpy(slot + part * some, input + part * call_.count * size, some);
  }
}

void NcclTransfer::take(const NcclRanks& ranks, std::uint64_t round) const {
  const std::size_t size = size_of(call_.type);
  const std::size_t count = elements(ranks);
  std::byte* const output = static_cast<std::byte*>(call_.output) + done_ * size;
  switch (call_.function) {
    case NcclFunction::kReduce:
      if (ranks.rank() != call_.peer) return;
      [[fallthrough]];
    case NcclFunction::kAllReduce: return sum_of(call_.type)(ranks, round, 0, count, output);
    case NcclFunction::kReduceScatter:
      return sum_of(call_.type)(ranks, round, static_cast<std::size_t>(ranks.rank()) * count, count, output);
    case NcclFunction::kAllGather:
      for (int rank = 0; rank < ranks.count(); ++rank) {
        std::memcpy(output + static_cast<std::size_t>(rank) * call_.count * size, ranks.slot(rank, round),
                    count * size);
      }
      return;
    default: std::memcpy(output, ranks.slot(call_.peer, round), count * size);
  }
}

/// A slot's content of each rank, from all to all: whatever its function, each rank counts its rounds.
bool NcclTransfer::go_round(NcclRanks& ranks, RankSet& awaited) {
  const bool from_all = call_.function != NcclFunction::kBroadcast;
  if (!is_published_) {
    const std::uint64_t round = ranks.next_round();
    if (from_all || ranks.rank() == call_.peer) {
      const RankSet readers = ranks.readers_before(round);
      awaited |= readers;
      if (readers != 0) return false;
      put(ranks, round);
    }
    ranks.publish(round);
    is_published_ = true;
  }
  const std::uint64_t round = ranks.next_round() - 1;
  const bool needs_all = from_all && (call_.function != NcclFunction::kReduce || ranks.rank() == call_.peer);
  const RankSet sources = needs_all ? ranks.everybody() : from_all ? 0 : RankSet{1} << call_.peer;
  const RankSet missing = ranks.not_published(round, sources);
  awaited |= missing;
  if (missing != 0) return false;
  take(ranks, round);
  ranks.consume(round);
  done_ += elements(ranks);
  is_published_ = false;
  return true;
}

bool NcclTransfer::advance(NcclRanks& ranks, RankSet& awaited) {
  if (is_collective(call_)) {
    while (done_ < call_.count && go_round(ranks, awaited)) continue;
    return done_ == call_.count;
  }
  const std::size_t size = call_.count * size_of(call_.type);
  for (std::size_t some = 1; done_ < size && some > 0; done_ += some) {
    some = call_.function == NcclFunction::kSend
               ? ranks.write(call_.peer, static_cast<const std::byte*>(call_.input) + done_, size - done_)
               : ranks.read(call_.peer, static_cast<std::byte*>(call_.output) + done_, size - done_);
  }
  if (done_ < size) awaited |= RankSet{1} << call_.peer;
  return done_ == size;
}

}  // namespace ddbench::cuda_on_host
