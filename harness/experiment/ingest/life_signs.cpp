#include "harness/experiment/ingest/life_signs.h"

#include <system_error>
#include <utility>

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "core/threads/signals_blocked.h"

namespace ddbench::experiment {

LifeSigns::LifeSigns(std::filesystem::path store, store::RunId run, std::chrono::milliseconds every)
    : store_(std::move(store)), run_(std::move(run)), every_(every) {
  try {
    const SignalsBlocked blocked;
    thread_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
  } catch (const std::system_error&) {
    // The ranks may have taken the last thread. What is stored between heartbeats is stored all the same.
  }
}

/// False: it is over.
bool LifeSigns::wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  stopped_.wait_for(lock, stop, every_, [] { return false; });
  return !stop.stop_requested();
}

void LifeSigns::show(const std::stop_token& stop) {
  do {
    try {
      auto store = store::RunStore::open(store_, store::OpenMode::kReadWrite);
      store.drive(run_);
      while (store.beat(run_)) {
        if (!wait(stop)) return;
      }
      return;
    } catch (const std::exception&) {
      // A full disk, or a lock: the next one may be stored.
    }
  } while (wait(stop));
}

}  // namespace ddbench::experiment
