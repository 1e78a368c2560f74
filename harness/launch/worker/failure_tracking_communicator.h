#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/collective/communicator.h"

namespace ddbench::launch {

/// Forwards to another communicator and remembers whether one of its collectives failed: such an error may be
/// the fault of a peer, and the launcher looks for an earlier cause.
class FailureTrackingCommunicator final : public collective::Communicator, public collective::QueuedCollectives {
 public:
  explicit FailureTrackingCommunicator(collective::Communicator& real) : real_(real) {}

  bool failed() const noexcept { return failed_; }

  int rank() const noexcept override { return real_.rank(); }
  int world_size() const noexcept override { return real_.world_size(); }
  std::uint16_t id() const noexcept override { return real_.id(); }
  std::string transport() const override { return real_.transport(); }
  std::vector<int> transport_threads() const override { return real_.transport_threads(); }
  void read_links(std::vector<collective::LinkCounters>& counters) const override { real_.read_links(counters); }
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
  collective::QueuedCollectives* queued() noexcept override {
    return real_.queued() != nullptr ? this : nullptr;
  }
  void abort() noexcept override { real_.abort(); }

  void queue_all_reduce_sum(collective::Elements data, void* stream) override {
    watch([&] { real_.queued()->queue_all_reduce_sum(data, stream); });
  }
  void queue_reduce_scatter_sum(collective::Elements input, collective::Elements output, void* stream) override {
    watch([&] { real_.queued()->queue_reduce_scatter_sum(input, output, stream); });
  }
  void wait_until(const std::function<bool()>& is_done) override {
    watch([&] { real_.queued()->wait_until(is_done); });
  }
  void start_after(void* event) override { real_.queued()->start_after(event); }
  void on_give_up(std::function<void()> release) override { real_.queued()->on_give_up(std::move(release)); }

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
