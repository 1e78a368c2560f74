#include "probes/nccl/operations.h"

#include <algorithm>
#include <bit>

namespace ddbench::nccl {
namespace {

// A handle: type number 4 bits, channel 8, generation 36, slot 16. Generations start at 1: never null.
constexpr int kTypeShift = 60;
constexpr int kChannelShift = 52;
constexpr int kGenerationShift = 16;
static_assert(Operations::kSlots <= 1u << kGenerationShift);

}  // namespace

void* Handle::encoded() const noexcept {
  const auto number = static_cast<std::uint64_t>(std::countr_zero(static_cast<std::uint64_t>(type)));
  return reinterpret_cast<void*>((number << kTypeShift) |
                                 (static_cast<std::uint64_t>(channel) << kChannelShift) |
                                 (static_cast<std::uint64_t>(generation) << kGenerationShift) | slot);
}

Handle Handle::decode(const void* handle) noexcept {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  return {static_cast<EventType>(std::uint64_t{1} << (bits >> kTypeShift)),
          static_cast<std::uint8_t>(bits >> kChannelShift),
          static_cast<std::uint32_t>(bits >> kGenerationShift), static_cast<std::uint32_t>(bits & 0xFFFF)};
}

void Operation::begin_channel(std::uint64_t timer, std::int64_t at_ns) noexcept {
  begin_ns = channels_begun == 0 ? at_ns : std::min(begin_ns, at_ns);
  if (timer != 0) begin_timer = begin_timer == 0 ? timer : std::min(begin_timer, timer);
  ++channels_begun;
  ++channels_open;
}

void Operation::stop_timer(std::uint64_t timer) noexcept {
  end_timer = std::max(end_timer, timer);
}

void Operation::end_phase(std::uint8_t phase, std::uint64_t timer) noexcept {
  if (phase == kPhaseInitialSync) initial_sync_end = std::max(initial_sync_end, timer);
  if (phase == kPhaseFinalSync) final_sync_begin = std::max(final_sync_begin, phase_begin);
}

void Operation::end_channel(std::int64_t at_ns) noexcept {
  end_ns = std::max(end_ns, at_ns);
  channels_open = std::max(0, channels_open - 1);
}

std::string_view Operation::transport() const noexcept {
  if (network == kNetInfiniband) return "infiniband";
  if (network == kNetSocket) return "socket";
  if (proxies > 0) return "proxy";
  return channels_begun > 0 ? "direct" : "";
}

Operation& Operations::next() noexcept {
  return (*slots_)[next_ % kSlots];
}

Handle Operations::take(const Operation& operation) noexcept {
  const std::uint32_t slot = next_++ % kSlots;
  Operation& place = (*slots_)[slot];
  const std::uint32_t generation = place.generation + 1;
  place = operation;
  place.generation = generation;
  return {operation.type, 0, generation, slot};
}

Operation* Operations::find(const Handle& handle) noexcept {
  if (handle.slot >= kSlots) return nullptr;
  Operation& operation = (*slots_)[handle.slot];
  return operation.communicator != nullptr && operation.generation == handle.generation ? &operation
                                                                                        : nullptr;
}

void Operations::release(Operation& operation) noexcept {
  operation.communicator = nullptr;
}

std::uint64_t size_of_type(std::string_view type) noexcept {
  struct Size {
    std::string_view ending;
    std::uint64_t bytes;
  };
  // "ncclInt64", "ncclUint8", "ncclBfloat16", "ncclFloat8e4m3": the bits are in the name.
  constexpr std::array kSizes = {Size{"nt8", 1},    Size{"nt32", 4},   Size{"nt64", 8}, Size{"loat16", 2},
                                 Size{"loat32", 4}, Size{"loat64", 8}, Size{"e4m3", 1}, Size{"e5m2", 1}};
  for (const Size& size : kSizes) {
    if (type.ends_with(size.ending)) return size.bytes;
  }
  return 0;
}

}  // namespace ddbench::nccl
