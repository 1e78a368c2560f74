#pragma once

#include <nccl.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "harness/collective/communicator.h"
#include "harness/collective/nccl/nccl_settings.h"
#include "harness/device/gpu/gpu.h"

namespace ddbench::collective::nccl_backend {

/// Communicator over NCCL, on a stream of its own. Buffers are in the GPU's memory, and their content must be
/// complete when the call is made; small buffers may also be in host memory, from which they are copied there
/// and back. NCCL itself never blocks: while a call waits, it checks for errors, the timeout and abort().
class NcclCommunicator final : public Communicator, public QueuedCollectives {
 public:
  /// Takes the rank's GPU (gpu::select). Throws as make_communicator does.
  NcclCommunicator(const CommunicatorOptions& options, KeyValueStore& rendezvous);
  ~NcclCommunicator() override;

  int rank() const noexcept override { return options_.rank; }
  int world_size() const noexcept override { return options_.world_size; }
  std::uint16_t id() const noexcept override { return options_.id; }
  std::string transport() const override { return transport_; }

  void all_reduce_sum(Elements data) override;
  void broadcast(Elements data, int root) override;
  void reduce_sum(Elements data, int root) override;
  void reduce_scatter_sum(Elements input, Elements output) override;
  void all_gather(Elements input, Elements output) override;
  void all_to_all(Elements input, Elements output) override;
  void send(Elements data, int peer) override;
  void receive(Elements data, int peer) override;
  void barrier() override;
  QueuedCollectives* queued() noexcept override { return this; }
  void abort() noexcept override { aborted_ = true; }

  void queue_all_reduce_sum(Elements data, void* stream) override;
  void queue_reduce_scatter_sum(Elements input, Elements output, void* stream) override;
  void start_after(void* event) override { start_after_ = static_cast<cudaEvent_t>(event); }
  void wait_until(const std::function<bool()>& is_done) override;
  void on_give_up(std::function<void()> release) override { release_ = std::move(release); }

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  void connect(const ncclUniqueId& unique_id);

  template <typename Action>
  void run(const char* function, Action action);
  void check_rank(const char* function, int rank) const;
  /// Waits until NCCL has queued what `status` is the answer to.
  void settle(const char* function, ncclResult_t status, Deadline deadline);
  template <typename IsDone>
  void wait_until_done(const char* function, Deadline deadline, const IsDone& is_done);
  static void rest(std::chrono::steady_clock::time_point begin);
  void throw_if_hopeless(const char* function, Deadline deadline);
  [[noreturn]] void fail(const char* function, const std::string& why, int native_code = 0);
  void give_up() noexcept;

  const CommunicatorOptions options_;
  const int device_;
  const gpu::Stream stream_;
  const gpu::Event done_;
  void* barrier_memory_ = nullptr;
  ncclComm_t communicator_ = nullptr;
  std::string transport_;
  std::function<void()> release_;
  cudaEvent_t start_after_ = nullptr;
  std::atomic<bool> aborted_{false};
};

}  // namespace ddbench::collective::nccl_backend
