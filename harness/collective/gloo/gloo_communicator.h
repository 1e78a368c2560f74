#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>

#include "harness/collective/communicator.h"
#include "harness/collective/gloo/interruptible_context.h"
#include "harness/collective/gloo/peer_watch.h"
#include "harness/collective/gloo/rendezvous_store.h"

namespace ddbench::collective::gloo_backend {

/// Communicator over Gloo's TCP transport, every rank connected to every other. All-reduce is Gloo's ring: a
/// chunk is reduced on one rank and copied to the others, so all get the same bits.
class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(const CommunicatorOptions& options, KeyValueStore& rendezvous);
  ~GlooCommunicator() override;

  int rank() const noexcept override { return options_.rank; }
  int world_size() const noexcept override { return options_.world_size; }
  std::uint16_t id() const noexcept override { return options_.id; }
  std::string transport() const override { return transport_; }
  std::vector<int> transport_threads() const override { return transport_threads_; }

  void read_links(std::vector<LinkCounters>& counters) const override { watch_->read_links(counters); }

  void all_reduce_sum(Elements data) override;
  void broadcast(Elements data, int root) override;
  void reduce_sum(Elements data, int root) override;
  void reduce_scatter_sum(Elements input, Elements output) override;
  void all_gather(Elements input, Elements output) override;
  void all_to_all(Elements input, Elements output) override;
  void send(Elements data, int peer) override;
  void receive(Elements data, int peer) override;
  void barrier() override;
  void abort() noexcept override;

 private:
  void connect();
  void watch_peers(const std::set<SocketIdentity>& sockets_before);
  void check_rank(const char* function, int rank) const;
  void check_peer(const char* function, int rank) const;
  template <typename Action>
  void run(const char* function, Action action);
  void wait_for_barrier(std::chrono::milliseconds timeout);

  const CommunicatorOptions options_;
  const int exceptions_at_birth_;
  std::shared_ptr<RendezvousStore> store_;
  std::string transport_;
  std::vector<int> transport_threads_;
  Interrupt interrupt_;
  std::shared_ptr<::gloo::Context> context_;
  std::unique_ptr<PeerWatch> watch_;  // destroyed before the object that it interrupts
};

}  // namespace ddbench::collective::gloo_backend
