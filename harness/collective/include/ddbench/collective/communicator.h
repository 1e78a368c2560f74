#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ddbench/collective/key_value_store.h"

namespace ddbench::collective {

struct CommunicatorOptions {
  int rank = 0;
  int world_size = 1;
  std::string address = "127.0.0.1";  ///< of the interface this rank communicates over
  std::chrono::milliseconds timeout{
      std::chrono::seconds(300)};  ///< of one collective; the watchdog acts earlier
  std::uint16_t id =
      1;  ///< the same on all ranks, distinct among the communicators of a run (collective_key)
};

/// The collectives of one group of ranks. Calls block until this rank's part is done, in the same order on
/// every rank, from one thread at a time. A broken connection or a timeout throws Error{kRunFailed} that
/// names the function. Buffers are contiguous host memory (device memory for NCCL) and stay owned by the
/// caller.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const noexcept = 0;
  virtual int world_size() const noexcept = 0;
  virtual std::uint16_t id() const noexcept = 0;
  /// What really carries the bytes: "tcp eth0 10.77.0.1" for instance, "none" for one rank. Stored with the
  /// run.
  virtual std::string transport() const = 0;

  virtual void all_reduce_sum(std::span<float> data) = 0;  ///< in place; every rank gets the same bits
  virtual void broadcast(std::span<float> data, int root) = 0;
  virtual void barrier() = 0;

  /// From any thread: makes a blocked collective and all later ones throw soon. Idempotent.
  virtual void abort() noexcept = 0;
};

/// Opens the module of `backend` ("gloo") and connects all ranks; a world of one rank needs neither module
/// nor sockets. Throws Error{kBadInput} for an unknown backend or a rank outside of the world,
/// Error{kEnvironment} when this build has no such backend (the message says which package brings it),
/// Error{kRunFailed} when a peer does not come.
std::unique_ptr<Communicator> make_communicator(std::string_view backend, const CommunicatorOptions& options,
                                                KeyValueStore& rendezvous);

/// Opens the module of `backend` and nothing else; throws as make_communicator does when it is not to be had.
void check_backend(std::string_view backend);

/// What the modules of backends export (ddbench/module/module.h).
inline constexpr const char* kCommunicatorInterface = "communicator/1";
using CommunicatorFactory = std::unique_ptr<Communicator>(const CommunicatorOptions& options,
                                                          KeyValueStore& rendezvous);

}  // namespace ddbench::collective
