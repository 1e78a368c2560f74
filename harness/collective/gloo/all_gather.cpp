#include "harness/collective/gloo/all_gather.h"

#include <cstdint>
#include <cstring>
#include <memory>

namespace ddbench::collective::gloo_backend {
namespace {

// Gloo's own collectives use prefixes from 1 on in the slot's highest byte.
constexpr std::uint64_t kAllGatherSlot = std::uint64_t{0x62} << 56;

}  // namespace

void ring_all_gather(::gloo::Context& context, Elements input, Elements output, std::chrono::milliseconds timeout) {
  const auto chunk = static_cast<std::size_t>(input.bytes());
  const int n = context.size;
  const int left = (context.rank + n - 1) % n;
  const int right = (context.rank + 1) % n;
  const Elements own = output.part(context.rank * input.count, input.count);
  if (own.data != input.data) std::memcpy(own.data, input.data, chunk);
  const auto whole = context.createUnboundBuffer(output.data, static_cast<std::size_t>(output.bytes()));
  // Where the chunk of the rank `hops` to the left lies.
  const auto offset = [&](int hops) { return static_cast<std::size_t>((context.rank + n - hops) % n) * chunk; };
  for (int hop = 1; hop < n; ++hop) whole->recv(left, kAllGatherSlot, offset(hop), chunk);
  for (int hop = 0; hop < n - 1; ++hop) {
    if (hop > 0) whole->waitRecv(timeout);
    whole->send(right, kAllGatherSlot, offset(hop), chunk);
  }
  if (n > 1) whole->waitRecv(timeout);
  for (int hop = 0; hop < n - 1; ++hop) whole->waitSend(timeout);
}

}  // namespace ddbench::collective::gloo_backend
