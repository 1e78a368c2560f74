#pragma once

#include <mpi.h>

#include <string>

#include "harness/collective/communicator.h"
#include "harness/collective/mpi/abortable_calls.h"

namespace ddbench::collective::mpi_backend {

/// Communicator over the MPI that started this process (mpirun): its ranks are MPI's. One
/// a process, for MPI can be started only once.
///
/// Calls are MPI's blocking ones, which nothing can end from outside: nonblocking ones, which could be given
/// up, take 1.5 to 2 times as long in Open MPI 4.1. A rank that dies takes the others with it, as MPI does
/// it. Where abort() finds a call that peers keep waiting, it ends this process after a second, and MPI the
/// others.
class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(const CommunicatorOptions& options);
  ~MpiCommunicator() override;

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
  void abort() noexcept override;

 private:
  template <typename Call>
  void run(const char* function, Call call);
  MPI_Op sum_of(ElementType type) const noexcept;

  const CommunicatorOptions options_;
  const int exceptions_at_birth_;
  const bool started_mpi_;
  std::string transport_;
  MPI_Comm ranks_ = MPI_COMM_NULL;
  MPI_Op float16_sum_ = MPI_OP_NULL;
  MPI_Op bfloat16_sum_ = MPI_OP_NULL;
  AbortableCalls calls_;
};

}  // namespace ddbench::collective::mpi_backend
