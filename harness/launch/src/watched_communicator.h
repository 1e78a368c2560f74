#pragma once

#include <atomic>
#include <span>
#include <string>

#include "ddbench/collective/communicator.h"

namespace ddbench::launch {

/// Forwards to another communicator and remembers whether one of its collectives failed: such an error may be
/// the fault of a peer, and the launcher looks for an earlier cause.
class WatchedCommunicator final : public collective::Communicator {
 public:
  explicit WatchedCommunicator(collective::Communicator& real) : real_(real) {}

  bool failed() const noexcept { return failed_; }

  int rank() const noexcept override { return real_.rank(); }
  int world_size() const noexcept override { return real_.world_size(); }
  std::uint16_t id() const noexcept override { return real_.id(); }
  std::string transport() const override { return real_.transport(); }
  void all_reduce_sum(std::span<float> data) override {
    watch([&] { real_.all_reduce_sum(data); });
  }
  void broadcast(std::span<float> data, int root) override {
    watch([&] { real_.broadcast(data, root); });
  }
  void barrier() override {
    watch([&] { real_.barrier(); });
  }
  void abort() noexcept override { real_.abort(); }

 private:
  template <typename Collective>
  void watch(Collective&& collective) {
    try {
      collective();
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  collective::Communicator& real_;
  std::atomic<bool> failed_{false};
};

}  // namespace ddbench::launch
