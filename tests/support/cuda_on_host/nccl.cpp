// NCCL's functions, between processes of one machine.
#include <nccl.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "communicator_on_host.h"
#include "stream.h"

struct ncclComm {
  std::shared_ptr<ddbench::cuda_on_host::CommunicatorOnHost> body;
};

namespace ddbench::cuda_on_host {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kMagic = 0xcafebeef;  // of NCCL_CONFIG_INITIALIZER
thread_local std::string last_error;     // where no communicator has one

template <typename Body>
ncclResult_t guarded(const Body& body) noexcept try {
  return body();
} catch (const NcclError& error) {
  last_error = error.what();
  return error.result;
} catch (const std::exception& error) {
  last_error = error.what();
  return ncclInternalError;
}

struct Noted {
  std::shared_ptr<CommunicatorOnHost> communicator;
  cudaStream_t stream;
  NcclCall call;
};

struct Group {
  int depth = 0;
  ncclResult_t result = ncclSuccess;  // the first call's that failed
  std::vector<Noted> calls;
};
thread_local Group group;

CommunicatorOnHost& body_of(ncclComm_t communicator) {
  if (communicator == nullptr) throw NcclError(ncclInvalidArgument, "the communicator is NULL");
  return *communicator->body;
}

ncclResult_t wait_for(CommunicatorOnHost& communicator) {
  ncclResult_t result = ncclInProgress;
  while ((result = communicator.look()) == ncclInProgress) std::this_thread::sleep_for(1ms);
  if (result != ncclSuccess) throw NcclError(result, communicator.error());
  return result;
}

/// A launch on a stream, or in a graph, which copies it for each of its own.
class LaunchWork {
 public:
  LaunchWork(std::shared_ptr<CommunicatorOnHost> communicator, std::shared_ptr<const NcclLaunch> launch)
      : communicator_(std::move(communicator)), launch_(std::move(launch)) {}

  bool operator()() {
    if (run_ == nullptr) run_ = std::make_shared<NcclRun>(launch_);
    return communicator_->run(run_);
  }

 private:
  std::shared_ptr<CommunicatorOnHost> communicator_;
  std::shared_ptr<const NcclLaunch> launch_;
  std::shared_ptr<NcclRun> run_;
};

void check_cuda(cudaError_t status) {
  if (status != cudaSuccess) throw NcclError(ncclUnhandledCudaError, cudaGetErrorString(status));
}

/// Without the communicator's lock: a stream's work takes it while the stream's is held.
void launch(const std::shared_ptr<CommunicatorOnHost>& communicator, cudaStream_t stream,
            std::vector<NcclCall> calls) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &capture));
  auto launch = communicator->prepare(std::move(calls), capture == cudaStreamCaptureStatusActive);
  check_cuda(enqueue(stream, LaunchWork(communicator, std::move(launch))));
}

ncclResult_t end_group() {
  if (group.depth == 0) throw NcclError(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  if (--group.depth > 0) return ncclSuccess;
  auto noted = std::exchange(group.calls, {});
  ncclResult_t result = std::exchange(group.result, ncclSuccess);
  if (result != ncclSuccess) return result;
  while (!noted.empty()) {
    const auto communicator = noted.front().communicator;
    const cudaStream_t stream = noted.front().stream;
    const auto others = std::stable_partition(noted.begin(), noted.end(), [&](const Noted& one) {
      return one.communicator == communicator && one.stream == stream;
    });
    std::vector<NcclCall> calls;
    for (auto one = noted.begin(); one != others; ++one) calls.push_back(one->call);
    noted.erase(noted.begin(), others);
    launch(communicator, stream, std::move(calls));
    if (!communicator->blocks()) result = ncclInProgress;
  }
  return result;
}

ncclResult_t note(const NcclCall& call, ncclComm_t communicator, cudaStream_t stream) {
  CommunicatorOnHost& body = body_of(communicator);
  body.throw_unless_ready();
  if (size_of(call.type) == 0) throw NcclError(ncclInvalidArgument, "the type of the elements is not played");
  if (call.peer < 0 || call.peer >= body.count()) throw NcclError(ncclInvalidArgument, "no such rank");
  if (call.count == 0) return ncclSuccess;
  group.calls.push_back({communicator->body, stream, call});
  return ncclSuccess;
}

ncclResult_t queue(const NcclCall& call, ncclComm_t communicator, cudaStream_t stream) {
  const ncclResult_t noted = guarded([&] { return note(call, communicator, stream); });
  if (group.depth > 0) {
    if (group.result == ncclSuccess) group.result = noted;
    return noted;
  }
  if (noted != ncclSuccess) return noted;
  group.depth = 1;
  return guarded(end_group);
}

ncclResult_t queue_sum(const NcclCall& call, ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream) {
  if (op == ncclSum) return queue(call, communicator, stream);
  last_error = "only sums are played";
  if (group.depth > 0) group.result = ncclInvalidArgument;
  return ncclInvalidArgument;
}

ncclResult_t leave(ncclComm_t communicator, bool aborted) {
  const std::unique_ptr<ncclComm> owned(communicator);
  if (owned != nullptr) owned->body->leave(aborted);
  return ncclSuccess;
}

void connect(ncclComm_t* made, int count, const ncclUniqueId& id, int rank, bool blocks) {
  if (made == nullptr) throw NcclError(ncclInvalidArgument, "there is nowhere to put the communicator");
  *made = nullptr;
  if (count < 1 || count > NcclRanks::kMost || rank < 0 || rank >= count) {
    throw NcclError(ncclInvalidArgument, "no rank of so many: " + std::to_string(rank));
  }
  const auto body = std::make_shared<CommunicatorOnHost>(id, count, rank, blocks);
  try {
    if (blocks) wait_for(*body);
    *made = new ncclComm{body};
  } catch (...) {
    body->leave(true);
    throw;
  }
}

}  // namespace
}  // namespace ddbench::cuda_on_host

using namespace ddbench::cuda_on_host;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr std::array kTexts = {"no error",
                                 "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
                                 "unhandled system error (run with NCCL_DEBUG=INFO for details)",
                                 "internal error - please report this issue to the NCCL developers",
                                 "invalid argument (run with NCCL_DEBUG=WARN for details)",
                                 "invalid usage (run with NCCL_DEBUG=WARN for details)",
                                 "remote process exited or there was a network error",
                                 "NCCL operation in progress"};
  const auto index = static_cast<std::size_t>(result);
  return index < kTexts.size() ? kTexts[index] : "unknown result code";
}

const char* ncclGetLastError(ncclComm_t communicator) {
  const char* const own = communicator != nullptr ? communicator->body->error() : "";
  return *own != '\0' ? own : last_error.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return guarded([&] {
    std::array<unsigned long long, 2> bits{};
    if (::getrandom(bits.data(), sizeof bits, 0) != sizeof bits)
      throw NcclError(ncclSystemError, "getrandom");
    *id = {};
    std::snprintf(id->internal, sizeof id->internal, "/ddbench-nccl-%016llx%016llx", bits[0], bits[1]);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int count, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return guarded([&] {
    if (config != nullptr && config->magic != kMagic) {
      throw NcclError(ncclInvalidArgument,
                      "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    }
    const bool blocks = config == nullptr || config->blocking != 0;
    connect(communicator, count, id, rank, blocks);
    return blocks ? ncclSuccess : ncclInProgress;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* state) {
  return guarded([&] {
    *state = body_of(communicator).look();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  return guarded([&] {
    CommunicatorOnHost& body = body_of(communicator);
    body.throw_unless_ready();
    body.finalize();
    return body.blocks() ? wait_for(body) : ncclInProgress;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  return guarded([&] { return leave(communicator, false); });
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  return guarded([&] { return leave(communicator, true); });
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  return guarded(end_group);
}

ncclResult_t ncclAllReduce(const void* input, void* output, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t communicator, cudaStream_t stream) {
  return queue_sum({NcclFunction::kAllReduce, input, output, count, type, 0}, op, communicator, stream);
}

ncclResult_t ncclBroadcast(const void* input, void* output, size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  return queue({NcclFunction::kBroadcast, input, output, count, type, root}, communicator, stream);
}

ncclResult_t ncclReduce(const void* input, void* output, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t communicator, cudaStream_t stream) {
  return queue_sum({NcclFunction::kReduce, input, output, count, type, root}, op, communicator, stream);
}

ncclResult_t ncclReduceScatter(const void* input, void* output, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream) {
  return queue_sum({NcclFunction::kReduceScatter, input, output, count, type, 0}, op, communicator, stream);
}

ncclResult_t ncclAllGather(const void* input, void* output, size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  return queue({NcclFunction::kAllGather, input, output, count, type, 0}, communicator, stream);
}

ncclResult_t ncclSend(const void* input, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return queue({NcclFunction::kSend, input, nullptr, count, type, peer}, communicator, stream);
}

ncclResult_t ncclRecv(void* output, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return queue({NcclFunction::kRecv, nullptr, output, count, type, peer}, communicator, stream);
}

}  // extern "C"
