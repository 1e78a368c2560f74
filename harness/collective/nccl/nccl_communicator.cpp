#include "harness/collective/nccl/nccl_communicator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "harness/collective/nccl/nccl_rendezvous.h"
#include "harness/collective/nccl/on_device.h"

namespace ddbench::collective::nccl_backend {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr const char* kOneChunkEach = "every rank gets one chunk of the input";
constexpr auto kGoodbyeTimeout = 5s;
constexpr auto kSpinTime = 2ms;     // of a wait, before it sleeps between looks
constexpr auto kLookPeriod = 50us;  // maximum delay of a sleeping wait, apart from the kernel's timer slack

ncclDataType_t nccl_type(ElementType type) {
  switch (type) {
    case ElementType::kFloat16: return ncclFloat16;
    case ElementType::kBfloat16: return ncclBfloat16;
    default: return ncclFloat32;
  }
}

void check_counts(bool fit, const char* function, std::int64_t input, std::int64_t output, const char* rule) {
  if (fit) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{}: {} elements in and {} out do not fit together: {}", function, input, output, rule), 0,
      function);
}

/// Each waits for the other: ncclCommAbort, which ends the kernels at once, for the end of every graph that
/// holds collectives, and the end of a graph that runs for its kernels.
void abort_with_graphs(ncclComm_t communicator, const std::function<void()>& release) noexcept try {
  std::thread abort([communicator] { ncclCommAbort(communicator); });
  release();
  abort.join();
} catch (const std::system_error&) {  // no thread
  release();
  ncclCommAbort(communicator);
}

std::string version_text() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("NCCL {}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

}  // namespace

NcclCommunicator::NcclCommunicator(const CommunicatorOptions& options, KeyValueStore& rendezvous)
    : options_(options),
      device_(gpu::select(options.rank)),
      stream_(gpu::make_stream()),
      done_(gpu::make_event(false)) {
  // Before NCCL's first call: it reads its settings once.
  const std::string host = host_id(exchange_places(options, device_, rendezvous), options.rank);
  if (!host.empty()) ::setenv("NCCL_HOSTID", host.c_str(), 0);
  const TransportLog log;
  gpu::check(cudaMalloc(&barrier_memory_, sizeof(float)), "allocate memory for barriers");
  try {
    gpu::check(cudaMemset(barrier_memory_, 0, sizeof(float)), "clear memory");
    connect(exchange_id(options, rendezvous));
    barrier();  // NCCL connects its ranks in their first collective
  } catch (...) {
    give_up();
    throw;
  }
  transport_ = fmt::format("{}, {}", log.transports(), version_text());
}

NcclCommunicator::~NcclCommunicator() {
  if (!aborted_ && communicator_ != nullptr) {
    try {
      settle("finalize", ncclCommFinalize(communicator_), steady_clock::now() + kGoodbyeTimeout);
      ncclCommDestroy(communicator_);
      communicator_ = nullptr;
    } catch (const Error&) {
      // Somebody is gone already: given up below.
    }
  }
  give_up();
}

/// Ends what NCCL still has under way. Idempotent.
void NcclCommunicator::give_up() noexcept {
  aborted_ = true;
  const ncclComm_t communicator = std::exchange(communicator_, nullptr);
  const auto release = std::exchange(release_, {});
  if (communicator == nullptr || !release) {
    if (release) release();
    if (communicator != nullptr) ncclCommAbort(communicator);
  } else {
    abort_with_graphs(communicator, release);
  }
  if (barrier_memory_ != nullptr) cudaFree(barrier_memory_);
  barrier_memory_ = nullptr;
}

void NcclCommunicator::connect(const ncclUniqueId& unique_id) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const ncclResult_t status =
      ncclCommInitRankConfig(&communicator_, options_.world_size, unique_id, options_.rank, &config);
  settle("connect", status, steady_clock::now() + kConnectTimeout);
}

void NcclCommunicator::check_rank(const char* function, int rank) const {
  if (rank >= 0 && rank < options_.world_size) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{}: {} is not a rank of a world of {}", function, rank, options_.world_size), 0,
              function);
}

void NcclCommunicator::fail(const char* function, const std::string& why, int native_code) {
  give_up();
  throw Error(ErrorCode::kRunFailed, fmt::format("{} failed on rank {}: {}", function, options_.rank, why),
              native_code, function);
}

void NcclCommunicator::throw_if_hopeless(const char* function, Deadline deadline) {
  if (aborted_) fail(function, "aborted");
  if (steady_clock::now() > deadline)
    fail(function, "it has not ended in time: a peer or the network is stuck");
}

/// Waits until the next check of an operation that began at `begin`: only briefly while it is not older than
/// a kernel's start takes.
void NcclCommunicator::rest(steady_clock::time_point begin) {
  if (steady_clock::now() - begin < kSpinTime) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kLookPeriod);
  }
}

void NcclCommunicator::settle(const char* function, ncclResult_t status, Deadline deadline) {
  const auto begin = steady_clock::now();
  while (status == ncclInProgress) {
    if (const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &status); asked != ncclSuccess) {
      status = asked;
    }
    if (status != ncclInProgress) break;
    throw_if_hopeless(function, deadline);
    rest(begin);
  }
  if (status == ncclSuccess) return;
  const char* const details = ncclGetLastError(communicator_);
  fail(function,
       fmt::format("{}{}{}", ncclGetErrorString(status), details != nullptr && *details != '\0' ? ": " : "",
                   details != nullptr ? details : ""),
       status);
}

template <typename IsDone>
void NcclCommunicator::wait_until_done(const char* function, Deadline deadline, const IsDone& is_done) {
  const auto begin = steady_clock::now();
  while (!is_done()) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &state);
    if (asked != ncclSuccess || (state != ncclSuccess && state != ncclInProgress)) {
      settle(function, asked != ncclSuccess ? asked : state, deadline);
    }
    throw_if_hopeless(function, deadline);
    rest(begin);
  }
}

/// `action` calls NCCL, once, or between a group's start and end.
template <typename Action>
void NcclCommunicator::run(const char* function, Action action) {
  const auto deadline = steady_clock::now() + options_.timeout;
  throw_if_hopeless(function, deadline);
  gpu::check(cudaSetDevice(device_), "be selected");  // of this thread, whichever it is
  if (const cudaEvent_t event = std::exchange(start_after_, nullptr); event != nullptr) {
    gpu::check(cudaStreamWaitEvent(stream_.get(), event, 0), "order a collective after its data");
  }
  settle(function, action(communicator_, stream_.get()), deadline);
  gpu::check(cudaEventRecord(done_.get(), stream_.get()), "mark the end of a collective");
  wait_until_done(function, deadline, [&] {
    const cudaError_t status = cudaEventQuery(done_.get());
    if (status != cudaSuccess && status != cudaErrorNotReady)
      fail(function, cudaGetErrorString(status), status);
    return status == cudaSuccess;
  });
}

void NcclCommunicator::all_reduce_sum(Elements data) {
  OnDevice memory(data, device_, stream_.get());
  run("all_reduce", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclAllReduce(memory.data(), memory.data(), static_cast<std::size_t>(data.count),
                         nccl_type(data.type), ncclSum, communicator, stream);
  });
  memory.bring_back();
}

void NcclCommunicator::queue_all_reduce_sum(Elements data, void* stream) {
  const auto deadline = steady_clock::now() + options_.timeout;
  throw_if_hopeless("all_reduce", deadline);
  settle("all_reduce",
         ncclAllReduce(data.data, data.data, static_cast<std::size_t>(data.count), nccl_type(data.type),
                       ncclSum, communicator_, static_cast<cudaStream_t>(stream)),
         deadline);
}

void NcclCommunicator::queue_reduce_scatter_sum(Elements input, Elements output, void* stream) {
  check_counts(input.count == output.count * options_.world_size && input.type == output.type,
               "reduce_scatter", input.count, output.count, kOneChunkEach);
  const auto deadline = steady_clock::now() + options_.timeout;
  throw_if_hopeless("reduce_scatter", deadline);
  settle("reduce_scatter",
         ncclReduceScatter(input.data, output.data, static_cast<std::size_t>(output.count), nccl_type(input.type),
                           ncclSum, communicator_, static_cast<cudaStream_t>(stream)),
         deadline);
}

void NcclCommunicator::wait_until(const std::function<bool()>& is_done) {
  gpu::check(cudaSetDevice(device_), "be selected");
  wait_until_done("all_reduce", steady_clock::now() + options_.timeout, is_done);
}

void NcclCommunicator::broadcast(Elements data, int root) {
  check_rank("broadcast", root);
  OnDevice memory(data, device_, stream_.get());
  run("broadcast", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclBroadcast(memory.data(), memory.data(), static_cast<std::size_t>(data.count),
                         nccl_type(data.type), root, communicator, stream);
  });
  memory.bring_back();
}

void NcclCommunicator::reduce_sum(Elements data, int root) {
  check_rank("reduce", root);
  OnDevice memory(data, device_, stream_.get());
  run("reduce", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclReduce(memory.data(), memory.data(), static_cast<std::size_t>(data.count),
                      nccl_type(data.type), ncclSum, root, communicator, stream);
  });
  memory.bring_back();
}

void NcclCommunicator::reduce_scatter_sum(Elements input, Elements output) {
  check_counts(input.count == output.count * options_.world_size && input.type == output.type,
               "reduce_scatter", input.count, output.count, kOneChunkEach);
  OnDevice from(input, device_, stream_.get());
  OnDevice to(output, device_, stream_.get());
  run("reduce_scatter", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclReduceScatter(from.data(), to.data(), static_cast<std::size_t>(output.count),
                             nccl_type(input.type), ncclSum, communicator, stream);
  });
  to.bring_back();
}

void NcclCommunicator::all_gather(Elements input, Elements output) {
  check_counts(output.count == input.count * options_.world_size && input.type == output.type, "all_gather",
               input.count, output.count, "the output has room for the input of every rank");
  OnDevice from(input, device_, stream_.get());
  OnDevice to(output, device_, stream_.get());
  run("all_gather", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclAllGather(from.data(), to.data(), static_cast<std::size_t>(input.count), nccl_type(input.type),
                         communicator, stream);
  });
  to.bring_back();
}

void NcclCommunicator::all_to_all(Elements input, Elements output) {
  check_counts(
      input.count == output.count && input.count % options_.world_size == 0 && input.type == output.type,
      "all_to_all", input.count, output.count, "both hold one chunk for each rank");
  OnDevice from(input, device_, stream_.get());
  OnDevice to(output, device_, stream_.get());
  const std::int64_t chunk = input.count / options_.world_size;
  run("all_to_all", [&](ncclComm_t communicator, cudaStream_t stream) {
    const auto count = static_cast<std::size_t>(chunk);
    const ncclDataType_t type = nccl_type(input.type);
    // Inside of a group nothing is under way yet: calls are only noted.
    ncclResult_t status = ncclGroupStart();
    for (int peer = 0; peer < options_.world_size && status == ncclSuccess; ++peer) {
      const std::int64_t at = peer * chunk * size_of(input.type);
      status =
          ncclSend(static_cast<const std::byte*>(from.data()) + at, count, type, peer, communicator, stream);
      if (status != ncclSuccess) break;
      status = ncclRecv(static_cast<std::byte*>(to.data()) + at, count, type, peer, communicator, stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    return status != ncclSuccess ? status : ended;
  });
  to.bring_back();
}

void NcclCommunicator::send(Elements data, int peer) {
  check_rank("send", peer);
  OnDevice memory(data, device_, stream_.get());
  run("send", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclSend(memory.data(), static_cast<std::size_t>(data.count), nccl_type(data.type), peer,
                    communicator, stream);
  });
}

void NcclCommunicator::receive(Elements data, int peer) {
  check_rank("receive", peer);
  OnDevice memory(data, device_, stream_.get());
  run("receive", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclRecv(memory.data(), static_cast<std::size_t>(data.count), nccl_type(data.type), peer,
                    communicator, stream);
  });
  memory.bring_back();
}

void NcclCommunicator::barrier() {
  run("barrier", [&](ncclComm_t communicator, cudaStream_t stream) {
    return ncclAllReduce(barrier_memory_, barrier_memory_, 1, ncclFloat32, ncclSum, communicator, stream);
  });
}

}  // namespace ddbench::collective::nccl_backend
