#include "probes/nccl/plugin.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "probes/nccl/operation_flights.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/preload/session/process_recorder.h"

namespace ddbench::nccl {
namespace {

constexpr std::int64_t kReportedWithin_ns = 20'000'000;  // many turns of NCCL's proxy thread

const char* or_empty(const char* text) noexcept {
  return text != nullptr ? text : "";
}

}  // namespace

Plugin& Plugin::instance() noexcept {
  static Plugin* const plugin = new Plugin;
  return *plugin;
}

bool Plugin::kernels_report() const noexcept {
  return why_no_kernel_events(conditions_).empty();
}

void Plugin::apply_mask() noexcept {
  conditions_.kernels_are_recorded = inject::kernels_are_recorded();
  conditions_.communicators = static_cast<int>(std::count_if(
      communicators_.begin(), communicators_.end(),
      [](const auto& communicator) { return communicator->is_open && communicator->ranks != 1; }));
  recorded_.without_kernels(why_no_kernel_events(conditions_));
  const int value = paused_ || !window_is_on_ ? 0 : wanted_events(conditions_);
  if (mask_ != nullptr) __atomic_store_n(mask_, value, __ATOMIC_RELAXED);
}

void* Plugin::open(int interface, std::uint64_t communicator, int ranks, int rank, int* mask) noexcept try {
  static constexpr inject::NcclPlugin kEntries{[]() noexcept { instance().conclude(); },
                                               [](bool paused) noexcept { instance().pause(paused); }};
  inject::set_nccl_plugin(&kEntries);
  const std::lock_guard lock(mutex_);
  mask_ = mask;
  conditions_.interface = interface;
  conditions_.shared_memory_bytes = shared_memory_bytes();
  conditions_.chosen = chosen_kernel_events();
  apply_mask();
  const char* const window_text = std::getenv("DDBENCH_NCCL_WINDOW");
  const auto window = parse_sample_window(or_empty(window_text));
  if (window && windows_ == nullptr) {
    windows_ = std::make_unique<SampleWindows>(*window, [this](bool on) {
      const std::lock_guard mask_lock(mutex_);
      window_is_on_ = on;
      apply_mask();
    });
  }
  Communicator named;
  named.id = communicator;
  named.ranks = ranks;
  named.rank = rank;
  Communicator& opened = *communicators_.emplace_back(std::make_unique<Communicator>(std::move(named)));
  if (communicator != 0) recorded_.communicator(opened);  // not reported in version 3
  ++open_;  // after what may throw: NCCL does not close what could not be opened
  opened.is_open = true;
  apply_mask();
  return &opened;
} catch (...) {  // NCCL's program runs on without its measurement
  return nullptr;
}

void Plugin::pause(bool paused) noexcept {
  std::unique_lock lock(mutex_);
  if (paused && !paused_) wait_until_reported(lock);
  paused_ = paused;
  apply_mask();
}

/// NCCL's proxy thread reports a kernel's end some time after it: waits for that, up to the limit. The caller
/// has waited for the GPU. An operation not reported in time is not waited for again.
void Plugin::wait_until_reported(std::unique_lock<std::mutex>& lock) noexcept {
  const std::int64_t until_ns = now_ns() + kReportedWithin_ns;
  const auto is_awaited = [](const Operation& operation) {
    const bool is_task = operation.type == kColl || operation.type == kP2p;
    return operation.communicator != nullptr && is_task && !operation.reported_late &&
           operation.enqueued_end_ns != 0 && !operation.all_reported();
  };
  const auto& all = operations_.all();
  while (std::any_of(all.begin(), all.end(), is_awaited)) {
    if (now_ns() > until_ns) {
      for (Operation& operation : operations_.all()) operation.reported_late |= is_awaited(operation);
      return;
    }
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    lock.lock();
  }
}

Communicator& Plugin::known(std::uint64_t id, int rank) {
  for (const auto& communicator : communicators_) {
    if (communicator->id == id && communicator->rank == rank) return *communicator;
  }
  Communicator named;
  named.id = id;
  named.ranks = 0;
  named.rank = rank;
  return *communicators_.emplace_back(std::make_unique<Communicator>(std::move(named)));
}

/// Those of all communicators where none is given.
void Plugin::finish_all(const Communicator* communicator) {
  for (Operation& operation : operations_.all()) {
    if (operation.communicator == nullptr) continue;
    if (communicator == nullptr || operation.communicator == communicator) finish(operation);
  }
}

void Plugin::close(void* context) noexcept try {
  if (context == nullptr) return;
  const std::lock_guard lock(mutex_);
  end_open_flight(*static_cast<Communicator*>(context));
  static_cast<Communicator*>(context)->is_open = false;
  apply_mask();
  // With the last one end those that only events of version 3 have named.
  const bool is_last = --open_ == 0;
  finish_all(is_last ? nullptr : static_cast<const Communicator*>(context));
  if (is_last) {
    mask_ = nullptr;  // it lies in NCCL, which may go now
    conditions_.captures_graphs = false;
  }
  recorded_.counters(counters_);
} catch (...) {
}

void Plugin::conclude() noexcept try {
  std::unique_lock lock(mutex_);
  wait_until_reported(lock);
  finish_all(nullptr);
  recorded_.counters(counters_);
} catch (...) {
}

}  // namespace ddbench::nccl
