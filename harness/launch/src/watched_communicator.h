#pragma once

#include <atomic>
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
  void all_reduce_sum(collective::Elements data) override {
    watch([&] { real_.all_reduce_sum(data); });
  }
  void broadcast(collective::Elements data, int root) override {
    watch([&] { real_.broadcast(data, root); });
  }
  void reduce_sum(collective::Elements data, int root) override {
    watch([&] { real_.reduce_sum(data, root); });
  }
  void reduce_scatter_sum(collective::Elements input, collective::Elements output) override {
    watch([&] { real_.reduce_scatter_sum(input, output); });
  }
  void all_gather(collective::Elements input, collective::Elements output) override {
    watch([&] { real_.all_gather(input, output); });
  }
  void all_to_all(collective::Elements input, collective::Elements output) override {
    watch([&] { real_.all_to_all(input, output); });
  }
  void send(collective::Elements data, int peer) override {
    watch([&] { real_.send(data, peer); });
  }
  void receive(collective::Elements data, int peer) override {
    watch([&] { real_.receive(data, peer); });
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
