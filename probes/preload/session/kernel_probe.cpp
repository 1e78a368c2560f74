#include "probes/preload/session/kernel_probe.h"

#include <atomic>

namespace ddbench::inject {
namespace {

std::atomic<void (*)() noexcept> concludes{nullptr};

}  // namespace

void set_kernel_probe(void (*conclude)() noexcept) noexcept {
  concludes.store(conclude);
}

void conclude_kernels() noexcept {
  if (auto* const conclude = concludes.exchange(nullptr)) conclude();
}

}  // namespace ddbench::inject
