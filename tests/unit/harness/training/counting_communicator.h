#pragma once

#include "harness/collective/communicator.h"

namespace ddbench::test {

/// Forwards, and adds up what this rank sends by the theory of ring algorithms: an all-reduce of S bytes
/// 2 (n-1)/n S; a reduce-scatter or all-gather of S in all (n-1)/n S. Vectors of up to kSmall numbers
/// (losses, negotiation) and broadcasts are left out.
class CountingCommunicator final : public collective::Communicator {
 public:
  static constexpr std::int64_t kSmall = 8;
  explicit CountingCommunicator(collective::Communicator& real) : real_(real) {}

  double sent_bytes = 0;
  int exchanges = 0;

  int rank() const noexcept override { return real_.rank(); }
  int world_size() const noexcept override { return real_.world_size(); }
  std::uint16_t id() const noexcept override { return real_.id(); }
  std::string transport() const override { return real_.transport(); }
  void all_reduce_sum(collective::Elements data) override {
    count(data, 2 * others());
    real_.all_reduce_sum(data);
  }
  void broadcast(collective::Elements data, int root) override { real_.broadcast(data, root); }
  void reduce_sum(collective::Elements data, int root) override { real_.reduce_sum(data, root); }
  void reduce_scatter_sum(collective::Elements input, collective::Elements output) override {
    count(input, others());
    real_.reduce_scatter_sum(input, output);
  }
  void all_gather(collective::Elements input, collective::Elements output) override {
    count(output, others());
    real_.all_gather(input, output);
  }
  void all_to_all(collective::Elements input, collective::Elements output) override {
    real_.all_to_all(input, output);
  }
  void send(collective::Elements data, int peer) override {
    count(data, 1);
    real_.send(data, peer);
  }
  void receive(collective::Elements data, int peer) override { real_.receive(data, peer); }
  void barrier() override { real_.barrier(); }
  void abort() noexcept override { real_.abort(); }

 private:
  double others() const { return (world_size() - 1.0) / world_size(); }
  void count(const collective::Elements& data, double factor) {
    if (data.count <= kSmall) return;
    sent_bytes += factor * static_cast<double>(data.bytes());
    ++exchanges;
  }

  collective::Communicator& real_;
};

}  // namespace ddbench::test
