#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <thread>

#include "core/run_case/records.h"

namespace ddbench::experiment {

/// Stores heartbeats of a run that this process drives (store::RunStore::beat) while it lives, from a thread and through a
/// connection of its own: however long spools are read, whatever waits for a lock. Without threads left, there are none. For
/// the time when nothing is forked any more. A run that is closed gets none, and the store refuses what a run
/// that was taken over would write (store::RunStore::drive).
class LifeSigns {
 public:
  LifeSigns(std::filesystem::path store, store::RunId run, std::chrono::milliseconds every = std::chrono::seconds(10));
  LifeSigns(const LifeSigns&) = delete;
  LifeSigns& operator=(const LifeSigns&) = delete;
  ~LifeSigns() = default;

 private:
  void show(const std::stop_token& stop);
  bool wait(const std::stop_token& stop);

  std::filesystem::path store_;
  store::RunId run_;
  std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace ddbench::experiment
