#include "harness/collective/gloo/gloo_communicator.h"

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "core/error.h"
#include "harness/collective/gloo/all_gather.h"
#include "harness/collective/gloo/gloo_trylock_patch.h"
#include "harness/collective/gloo_patch_switch.h"
#include "harness/collective/gloo/mesh_sockets.h"
#include "harness/collective/gloo/reduce_scatter.h"
#include "harness/collective/half_sum.h"
#include "probes/machine/run_queue.h"

namespace ddbench::collective::gloo_backend {
namespace {

constexpr std::chrono::milliseconds kConnectTimeout = std::chrono::seconds(60);
constexpr int kGlooConnectPatience = 5;  // Gloo waits this many timeouts for a connection (Pair::waitUntil)
constexpr std::chrono::milliseconds kGoodbyeTimeout = std::chrono::seconds(5);

/// A full mesh whose buffers can be interrupted.
class MeshContext final : public ::gloo::rendezvous::Context {
 public:
  using ::gloo::rendezvous::Context::Context;

  void connect(const std::shared_ptr<RendezvousStore>& store,
               std::shared_ptr<::gloo::transport::Device>& device, Interrupt& interrupt) {
    connect_full_mesh(*this, store, device);
    transportContext_ = std::make_shared<InterruptibleContext>(std::move(transportContext_), interrupt);
  }

 private:
  /// Gloo of 2025 takes the store by shared_ptr, earlier ones by reference.
  template <typename Context>
  static void connect_full_mesh(Context& context, const std::shared_ptr<RendezvousStore>& store,
                                std::shared_ptr<::gloo::transport::Device>& device) {
    if constexpr (requires { context.connectFullMesh(*store, device); }) {
      context.connectFullMesh(*store, device);
    } else {
      context.connectFullMesh(store, device);
    }
  }
};

std::shared_ptr<::gloo::transport::Device> make_device(const std::string& address) try {
  if (gloo_trylock_patch_is_on()) make_io_threads_wait_for_locks();
  return ::gloo::transport::tcp::CreateDevice(address.c_str());
} catch (const std::exception& error) {
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format(
          "gloo cannot use the address {} of this rank: {}. Name an address of one of this machine's network "
          "interfaces.",
          address, error.what()),
      0, "create the gloo device");
}

/// The interface in Gloo's "tcp, pci=, iface=eth0, speed=-1, addr=[10.77.0.1]".
std::string interface_of(const std::string& device) {
  constexpr std::string_view kKey = "iface=";
  const std::size_t begin = device.find(kKey);
  if (begin == std::string::npos) return "?";
  return device.substr(begin + kKey.size(), device.find(',', begin) - begin - kKey.size());
}

/// This rank's end of its connection to `peer`. Gloo's bytes begin with the socket address; its text has the
/// port's bytes in the wrong order.
std::string local_address(::gloo::Context& context, int peer) {
  const std::vector<char> bytes = context.getPair(peer)->address().bytes();
  sockaddr_storage address{};
  std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof(address)));
  return to_text(address);
}

// Gloo's own collectives use prefixes from 1 on in the slot's highest byte; reduce_scatter.cpp 0x60,
// all_gather.cpp 0x62.
constexpr std::uint64_t kPointToPointSlot = std::uint64_t{0x61} << 56;

/// As bytes: Gloo only moves them.
char* bytes_of(const Elements& elements) {
  return static_cast<char*>(elements.data);
}
std::size_t size_in_bytes(const Elements& elements) {
  return static_cast<std::size_t>(elements.bytes());
}

/// Into a request for a reduction: its element's size is what a chunk must be a multiple of.
template <typename Request>
void set_output(Request& request, const Elements& data) {
  const auto count = static_cast<std::size_t>(data.count);
  if (data.type == ElementType::kFloat32) {
    request.setOutput(static_cast<float*>(data.data), count);
  } else {
    request.setOutput(static_cast<std::uint16_t*>(data.data), count);
  }
  request.setReduceFunction(sum_function(data.type));
}

void check_counts(bool fit, const char* function, std::int64_t input, std::int64_t output, const char* rule) {
  if (fit) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {} elements in and {} out do not fit together: {}",
                                                function, input, output, rule));
}

/// Gloo of 2025, which takes its store by shared_ptr, leaves more than addresses under the number of a rank.
template <typename Context = MeshContext>
std::optional<AddressLists> address_lists(const CommunicatorOptions& options) {
  constexpr bool kLeavesLists = requires(Context& context, RendezvousStore& store, std::shared_ptr<::gloo::transport::Device>& device) {
    context.connectFullMesh(store, device);
  };
  if (!kLeavesLists || options.world_size < 2) return std::nullopt;
  return AddressLists{options.rank, options.world_size};
}

}  // namespace

GlooCommunicator::GlooCommunicator(const CommunicatorOptions& options, KeyValueStore& rendezvous)
    : options_(options),
      exceptions_at_birth_(std::uncaught_exceptions()),
      store_(std::make_shared<RendezvousStore>(rendezvous, fmt::format("gloo/{}/", options.id),
                                               std::min(options.timeout, kConnectTimeout), address_lists(options))) {
  const std::set<SocketIdentity> sockets_before = open_tcp_sockets();
  connect();
  watch_peers(sockets_before);
}

void GlooCommunicator::connect() {
  const std::vector<int> threads_before = host::list_threads();
  std::shared_ptr<::gloo::transport::Device> device = make_device(options_.address);
  for (const int thread : host::list_threads()) {
    if (std::find(threads_before.begin(), threads_before.end(), thread) == threads_before.end())
      transport_threads_.push_back(thread);
  }
  transport_ = fmt::format("tcp {} {}", interface_of(device->str()), options_.address);
  auto mesh = std::make_shared<MeshContext>(options_.rank, options_.world_size);
  mesh->setTimeout(std::min(options_.timeout, kConnectTimeout) / kGlooConnectPatience);
  try {
    mesh->connect(store_, device, interrupt_);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kRunFailed,
                fmt::format("rank {} of {} could not connect to all ranks over {}: {}", options_.rank,
                            options_.world_size, transport_, error.what()),
                0, "connect");
  }
  context_ = std::move(mesh);
}

void GlooCommunicator::watch_peers(const std::set<SocketIdentity>& sockets_before) {
  std::vector<PeerConnection> connections;
  for (MeshSocket& mesh_socket : connected_since(sockets_before)) {
    std::vector<int> ranks;
    for (int rank = 0; rank < options_.world_size; ++rank) {
      if (rank == options_.rank) continue;
      if (local_address(*context_, rank) == mesh_socket.local) ranks.push_back(rank);
    }
    if (ranks.empty()) continue;  // a socket of somebody else in this process
    const std::string who = ranks.size() == 1 ? fmt::format("rank {}", ranks[0]) : "a rank";
    connections.push_back({std::move(mesh_socket.socket), fmt::format("{} at {}", who, mesh_socket.peer),
                           ranks.size() == 1 ? ranks[0] : -1});
  }
  watch_ = std::make_unique<PeerWatch>(std::move(connections), [this](const std::string& peer) {
    interrupt_.raise(peer + " closed its connection");
  });
}

GlooCommunicator::~GlooCommunicator() {
  const bool failing = std::uncaught_exceptions() > exceptions_at_birth_ || !interrupt_.reason().empty();
  if (failing) return;
  // A rank that closes its connections while another is still in the last collective would look like a failed
  // one. After this barrier no rank is in it; it does not matter whether all complete the barrier.
  try {
    wait_for_barrier(kGoodbyeTimeout);
  } catch (const std::exception&) {
  }
}

template <typename Action>
void GlooCommunicator::run(const char* function, Action action) {
  try {
    interrupt_.throw_if_raised();
    action();
  } catch (const std::exception& error) {
    if (interrupt_.reason().empty()) {
      const std::string peer = watch_->lost_peer();
      interrupt_.raise(peer.empty() ? error.what() : peer + " closed its connection");
    }
    throw Error(ErrorCode::kRunFailed,
                fmt::format("{} failed on rank {} of {}: {}", function, options_.rank, options_.world_size,
                            interrupt_.reason()),
                0, function);
  }
}

void GlooCommunicator::check_rank(const char* function, int rank) const {
  if (rank >= 0 && rank < options_.world_size) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{}: {} is not a rank of a world of {}", function, rank, options_.world_size));
}

void GlooCommunicator::check_peer(const char* function, int rank) const {
  check_rank(function, rank);
  if (rank != options_.rank) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{}: rank {} is this rank itself", function, rank));
}

void GlooCommunicator::all_reduce_sum(Elements data) {
  run("all_reduce", [&] {
    ::gloo::AllreduceOptions request(context_);
    request.setAlgorithm(::gloo::AllreduceOptions::Algorithm::RING);
    set_output(request, data);
    request.setTimeout(options_.timeout);
    ::gloo::allreduce(request);
  });
}

void GlooCommunicator::broadcast(Elements data, int root) {
  check_rank("broadcast", root);
  run("broadcast", [&] {
    ::gloo::BroadcastOptions request(context_);
    request.setOutput(bytes_of(data), size_in_bytes(data));
    request.setRoot(root);
    request.setTimeout(options_.timeout);
    ::gloo::broadcast(request);
  });
}

void GlooCommunicator::reduce_sum(Elements data, int root) {
  check_rank("reduce", root);
  run("reduce", [&] {
    ::gloo::ReduceOptions request(context_);
    set_output(request, data);
    request.setRoot(root);
    request.setTimeout(options_.timeout);
    ::gloo::reduce(request);
  });
}

void GlooCommunicator::reduce_scatter_sum(Elements input, Elements output) {
  check_counts(input.count == output.count * options_.world_size && input.type == output.type,
               "reduce_scatter", input.count, output.count, "every rank gets one chunk of the input");
  run("reduce_scatter", [&] { ring_reduce_scatter(*context_, input, output, options_.timeout); });
}

void GlooCommunicator::all_gather(Elements input, Elements output) {
  check_counts(output.count == input.count * options_.world_size && input.type == output.type, "all_gather",
               input.count, output.count, "the output has room for the input of every rank");
  if (input.count == 0) return;
  run("all_gather", [&] { ring_all_gather(*context_, input, output, options_.timeout); });
}

void GlooCommunicator::all_to_all(Elements input, Elements output) {
  check_counts(
      input.count == output.count && input.count % options_.world_size == 0 && input.type == output.type,
      "all_to_all", input.count, output.count, "both hold one chunk for each rank");
  run("all_to_all", [&] {
    ::gloo::AlltoallOptions request(context_);
    request.setInput(bytes_of(input), size_in_bytes(input));
    request.setOutput(bytes_of(output), size_in_bytes(output));
    request.setTimeout(options_.timeout);
    ::gloo::alltoall(request);
  });
}

void GlooCommunicator::send(Elements data, int peer) {
  check_peer("send", peer);
  run("send", [&] {
    const auto buffer = context_->createUnboundBuffer(data.data, size_in_bytes(data));
    buffer->send(peer, kPointToPointSlot);
    buffer->waitSend(options_.timeout);
  });
}

void GlooCommunicator::receive(Elements data, int peer) {
  check_peer("receive", peer);
  run("receive", [&] {
    const auto buffer = context_->createUnboundBuffer(data.data, size_in_bytes(data));
    buffer->recv(peer, kPointToPointSlot);
    buffer->waitRecv(options_.timeout);
  });
}

void GlooCommunicator::barrier() {
  run("barrier", [&] { wait_for_barrier(options_.timeout); });
}

void GlooCommunicator::wait_for_barrier(std::chrono::milliseconds timeout) {
  ::gloo::BarrierOptions request(context_);
  request.setTimeout(timeout);
  ::gloo::barrier(request);
}

void GlooCommunicator::abort() noexcept {
  interrupt_.raise("aborted");
  watch_->shut_down();
}

}  // namespace ddbench::collective::gloo_backend
