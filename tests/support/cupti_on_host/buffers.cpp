// How records come to the client: in buffers of its own, which CUPTI asks for, fills and hands over.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "state.h"

namespace ddbench::testing::cupti {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

/// 13.0 gives kernels of graphs correlation ids of others once recording has begun again.
void mix_up_launches(std::span<std::byte> record) {
  KernelRecord kernel{};
  if (record.size() != sizeof kernel) return;
  std::memcpy(&kernel, record.data(), sizeof kernel);
  if (kernel.kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kernel.graphNodeId == 0) return;
  kernel.correlationId += 1'000'000;
  std::memcpy(record.data(), &kernel, sizeof kernel);
}

bool mixes_up_launches() {
  const std::lock_guard lock(state_mutex());
  return state().version < 130101 && state().beginnings > 1;
}

/// What the kinds and calls that are enabled leave of the records.
Records enabled_of(const Records& records) {
  Records enabled;
  for (std::size_t i = 0; i < records.offsets().size(); ++i) {
    const std::span<const std::byte> one = records.record(i);
    CUpti_ActivityAPI call{};
    std::memcpy(&call, one.data(), std::min(sizeof call, one.size()));
    const bool is_call = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME || call.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    if (is_call ? records_call(call.kind, call.cbid) : enabled_kinds().contains(call.kind)) enabled.add(one);
  }
  return enabled;
}

bool promises_zeroed_buffers() {
  const std::lock_guard lock(state_mutex());
  return state().wants_zeroed_buffers;
}

bool ask_for_buffer(HeldBuffer& buffer) {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  {
    const std::lock_guard lock(state_mutex());
    request = state().request;
  }
  std::size_t most_records = 0;
  if (request == nullptr) return false;
  request(&buffer.bytes, &buffer.size, &most_records);
  if (buffer.bytes == nullptr) {
    const std::lock_guard lock(state_mutex());
    if (state().version < 27) throw std::logic_error("this CUPTI crashes when a buffer is refused");
    return false;
  }
  if (most_records != 0) throw std::logic_error("CUPTI on the host fills buffers as far as they go");
  if (reinterpret_cast<std::uintptr_t>(buffer.bytes) % 8 != 0) {
    throw std::logic_error("a buffer that is not aligned to 8 bytes");
  }
  if (!promises_zeroed_buffers()) std::memset(buffer.bytes, 0, buffer.size);
  // Each byte is that before it, and the first is 0: without optimization a loop would take most of a test's time.
  if (buffer.bytes[0] != 0 || std::memcmp(buffer.bytes, buffer.bytes + 1, buffer.size - 1) != 0)
    throw std::logic_error("a buffer that is not zeroed, as was promised");
  return true;
}

/// On a thread of CUPTI's own.
void hand_over(const std::vector<HeldBuffer>& buffers) {
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const std::lock_guard lock(state_mutex());
    complete = state().complete;
  }
  std::thread([&] {
    for (const HeldBuffer& one : buffers) complete(nullptr, 0, one.bytes, one.size, one.valid);
  }).join();
}

/// Empty when there is nothing to record.
std::vector<HeldBuffer> fill(const Records& all, bool& is_lost) {
  const Records records = enabled_of(all);
  is_lost = false;
  if (records.offsets().empty()) return {};
  HeldBuffer buffer;
  if (!ask_for_buffer(buffer) || buffer.size < records.bytes().size()) {
    drop(records.offsets().size());
    is_lost = true;
    return {};
  }
  std::memcpy(buffer.bytes, records.bytes().data(), records.bytes().size());
  for (std::size_t i = 0; i < records.offsets().size() && mixes_up_launches(); ++i) {
    mix_up_launches(
        {reinterpret_cast<std::byte*>(buffer.bytes) + records.offsets()[i], records.record(i).size()});
  }
  buffer.valid = records.bytes().size();
  const std::lock_guard lock(state_mutex());
  for (const HeldBuffer& held : state().held) {
    if (held.bytes == buffer.bytes) throw std::logic_error("a buffer that CUPTI has already");
  }
  state().offsets[buffer.bytes] = records.offsets();
  return {buffer};
}

}  // namespace

Records& Records::add(std::span<const std::byte> record) {
  offsets_.push_back(bytes_.size());
  bytes_.insert(bytes_.end(), record.begin(), record.end());
  return *this;
}

std::span<const std::byte> Records::record(std::size_t index) const {
  const std::size_t end = index + 1 < offsets_.size() ? offsets_[index + 1] : bytes_.size();
  return std::span(bytes_).subspan(offsets_.at(index), end - offsets_.at(index));
}

bool record(const Records& records) {
  bool is_lost = false;
  const std::vector<HeldBuffer> filled = fill(records, is_lost);
  const std::lock_guard lock(state_mutex());
  state().held.insert(state().held.end(), filled.begin(), filled.end());
  return !is_lost;
}

bool deliver(const Records& records) {
  bool is_lost = false;
  hand_over(fill(records, is_lost));
  return !is_lost;
}

}  // namespace ddbench::testing::cupti

using ddbench::testing::cupti::answer;
using ddbench::testing::cupti::State;

CUptiResult CUPTIAPI cuptiActivityFlushAll(std::uint32_t /*forced: all records are complete here*/) {
  std::vector<ddbench::testing::cupti::HeldBuffer> held;
  const CUptiResult result = answer("cuptiActivityFlushAll", [&](State& now) {
    if (now.complete == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
    held = std::exchange(now.held, {});
    return CUPTI_SUCCESS;
  });
  if (!held.empty()) ddbench::testing::cupti::hand_over(held);
  return result;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                                CUpti_Activity** record) {
  return answer("cuptiActivityGetNextRecord", [&](State& now) {
    const auto found = now.offsets.find(buffer);
    if (record == nullptr || found == now.offsets.end()) return CUPTI_ERROR_INVALID_PARAMETER;
    const std::uint8_t* const last = reinterpret_cast<std::uint8_t*>(*record);
    for (const std::size_t offset : found->second) {
      if (offset >= valid_bytes) break;
      if (last != nullptr && buffer + offset <= last) continue;
      *record = reinterpret_cast<CUpti_Activity*>(buffer + offset);
      return CUPTI_SUCCESS;
    }
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  });
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                                       std::size_t* dropped) {
  return answer("cuptiActivityGetNumDroppedRecords", [&](State& now) {
    if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *dropped = std::exchange(now.dropped, 0);
    return CUPTI_SUCCESS;
  });
}
