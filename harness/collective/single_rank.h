#pragma once

#include <atomic>

#include "harness/collective/communicator.h"

namespace ddbench::collective {

/// The communicator of a world of one rank: every collective is complete at once.
class SingleRank final : public Communicator {
 public:
  explicit SingleRank(std::uint16_t id) : id_(id) {}

  int rank() const noexcept override { return 0; }
  int world_size() const noexcept override { return 1; }
  std::uint16_t id() const noexcept override { return id_; }
  std::string transport() const override { return "none"; }

  void all_reduce_sum(Elements data) override;
  void broadcast(Elements data, int root) override;
  void reduce_sum(Elements data, int root) override;
  void reduce_scatter_sum(Elements input, Elements output) override;
  void all_gather(Elements input, Elements output) override;
  void all_to_all(Elements input, Elements output) override;
  void send(Elements data, int peer) override;
  void receive(Elements data, int peer) override;
  void barrier() override;
  void abort() noexcept override { aborted_ = true; }

 private:
  void throw_if_aborted(const char* function) const;
  void copy(const char* function, const Elements& input, const Elements& output) const;

  const std::uint16_t id_;
  std::atomic<bool> aborted_{false};
};

}  // namespace ddbench::collective
