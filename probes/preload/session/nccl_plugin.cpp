#include "probes/preload/session/nccl_plugin.h"

#include <atomic>

namespace ddbench::inject {
namespace {

std::atomic<const NcclPlugin*> loaded{nullptr};
std::atomic<bool> kernels_recorded{false};

}  // namespace

void set_nccl_plugin(const NcclPlugin* plugin) noexcept {
  loaded.store(plugin);
}

void conclude_nccl_events() noexcept {
  if (const NcclPlugin* const plugin = loaded.load()) plugin->conclude();
}

void pause_nccl_events(bool paused) noexcept {
  if (const NcclPlugin* const plugin = loaded.load()) plugin->pause(paused);
}

void note_kernels_recorded(bool recorded) noexcept {
  kernels_recorded.store(recorded);
}

bool kernels_are_recorded() noexcept {
  return kernels_recorded.load();
}

}  // namespace ddbench::inject
