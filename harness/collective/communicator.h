#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/collective/key_value_store.h"

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

enum class ElementType : std::uint8_t { kFloat32, kFloat16, kBfloat16 };

constexpr std::int64_t size_of(ElementType type) noexcept {
  return type == ElementType::kFloat32 ? 4 : 2;
}

/// A contiguous buffer of numbers, owned by the caller: host memory, or a GPU's for NCCL, complete there.
struct Elements {
  Elements() = default;
  /// Converts any range of std::span<float>.
  template <typename Floats>
  requires std::is_convertible_v<Floats&&, std::span<float>> Elements(
      Floats&& floats) {  // NOLINT: implicit, as floats are what most callers have
    const std::span<float> values(std::forward<Floats>(floats));
    data = values.data();
    count = static_cast<std::int64_t>(values.size());
  }
  Elements(void* memory, std::int64_t elements, ElementType element_type)
      : data(memory), count(elements), type(element_type) {}

  std::int64_t bytes() const noexcept { return count * size_of(type); }
  /// `elements` of them, from `first` on.
  Elements part(std::int64_t first, std::int64_t elements) const noexcept {
    return {static_cast<std::byte*>(data) + first * size_of(type), elements, type};
  }

  void* data = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::kFloat32;
};

/// What the kernel counted of the sending side of a connection to another rank, since it was made.
struct LinkCounters {
  int peer = 0;
  std::uint64_t acknowledged_bytes = 0;
  /// Data waited to be sent or acknowledged, and the receiver had room for it; in ticks of the kernel (1 to 10 ms), fair on average.
  std::int64_t busy_ns = 0;
};

/// Collectives as work of a device's queue, which may be captured into a graph that runs them again and
/// again. Every rank queues, captures and runs the same ones in the same order, and none of the
/// communicator's blocking calls meanwhile.
class QueuedCollectives {
 public:
  virtual ~QueuedCollectives() = default;
  /// Queues it in `stream`, a cudaStream_t; `data` is a GPU's memory. Throws as a blocking call.
  virtual void queue_all_reduce_sum(Elements data, void* stream) = 0;
  /// Likewise, with the counts and places of Communicator::reduce_scatter_sum().
  virtual void queue_reduce_scatter_sum(Elements input, Elements output, void* stream) = 0;
  /// The next blocking collective runs when `event`, a cudaEvent_t, has been passed: its data need not be
  /// complete when the call is made.
  virtual void start_after(void* event) = 0;
  /// Blocks until `is_done` returns true for work that contains queued collectives. Throws as a blocking call
  /// when a peer is gone, at abort() or after the timeout, and the exceptions of `is_done`.
  virtual void wait_until(const std::function<bool()>& is_done) = 0;
  /// `release` has to let go of every graph that holds collectives: a communicator that fails does not end
  /// before they do. Called at most once, on the thread of the call that fails. An empty one takes it back.
  virtual void on_give_up(std::function<void()> release) = 0;
};

/// The collectives of one group of n ranks. Calls block until this rank's part is done, in the same order on
/// every rank, from one thread at a time. A broken connection or a timeout throws Error{kRunFailed} that
/// names the function; buffers that do not fit together throw Error{kBadInput}. Sums of 16-bit numbers are
/// accumulated in float32 and rounded once a hop. Every rank gets the same bits.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const noexcept = 0;
  virtual int world_size() const noexcept = 0;
  virtual std::uint16_t id() const noexcept = 0;
  /// What really carries the bytes: "tcp eth0 10.77.0.1" for instance, "none" for one rank. Stored with the
  /// run.
  virtual std::string transport() const = 0;

  virtual void all_reduce_sum(Elements data) = 0;  ///< in place
  virtual void broadcast(Elements data, int root) = 0;
  virtual void reduce_sum(Elements data,
                          int root) = 0;  ///< in place on the root; others' data is undefined after
  /// Chunk `rank` of the sum of all inputs: input.count = n * output.count. `output` may be that chunk of
  /// `input`; then the rest of `input` is undefined after.
  virtual void reduce_scatter_sum(Elements input, Elements output) = 0;
  /// All inputs in the order of ranks: output.count = n * input.count. `input` may be its chunk of `output`.
  virtual void all_gather(Elements input, Elements output) = 0;
  /// Chunk i of `input` goes to rank i; chunk i of `output` comes from it. Equal counts, divisible by n; no
  /// overlap.
  virtual void all_to_all(Elements input, Elements output) = 0;
  /// Between two ranks, in the order of the calls on both.
  virtual void send(Elements data, int peer) = 0;
  virtual void receive(Elements data, int peer) = 0;
  virtual void barrier() = 0;

  /// The library's threads that transfer the bytes, apart from the caller's, as ids of host::own_thread();
  /// empty if they are not known.
  virtual std::vector<int> transport_threads() const { return {}; }

  /// One for each connection to another rank; none where the backend or the kernel does not count. From any thread. `counters` is
  /// overwritten, so that its memory is used again.
  virtual void read_links(std::vector<LinkCounters>& counters) const { counters.clear(); }

  /// nullptr where collectives are no work of a device's queue: all but NCCL.
  virtual QueuedCollectives* queued() noexcept { return nullptr; }

  /// From any thread: makes a blocked collective and all later ones throw soon. Idempotent.
  virtual void abort() noexcept = 0;
};

/// Opens the module of `backend` ("gloo", "mpi", "nccl") and connects all ranks; a world of one rank needs
/// neither module nor sockets. Throws Error{kBadInput} for an unknown backend or a rank outside of the world,
/// Error{kEnvironment} when this build has no such backend (the message names the package that provides it),
/// Error{kRunFailed} when a peer does not connect.
std::unique_ptr<Communicator> make_communicator(std::string_view backend, const CommunicatorOptions& options,
                                                KeyValueStore& rendezvous);

/// Only opens the module of `backend`; throws as make_communicator when it is not available.
void check_backend(std::string_view backend);

/// What the modules of backends export (ddbench/module/module.h).
inline constexpr const char* kCommunicatorInterface = "communicator/5";
using CommunicatorFactory = std::unique_ptr<Communicator>(const CommunicatorOptions& options,
                                                          KeyValueStore& rendezvous);

}  // namespace ddbench::collective
