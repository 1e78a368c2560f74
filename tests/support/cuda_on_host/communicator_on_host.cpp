#include "communicator_on_host.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace ddbench::cuda_on_host {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookPeriod{50};  // after the peers that are waited for

std::string setting(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

std::uint64_t hash_of(const std::string& text) {
  return std::hash<std::string>{}(text);
}

/// Opened once, as NCCL does: its user may have removed the file when the next communicator comes.
std::FILE* debug_log() {
  static std::FILE* const file =
      setting("NCCL_DEBUG") == "INFO" ? std::fopen(setting("NCCL_DEBUG_FILE").c_str(), "ae") : nullptr;
  return file;
}

int current_device() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) throw NcclError(ncclUnhandledCudaError, "no device is selected");
  return device;
}

RankPlace place_on(int device) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    throw NcclError(ncclUnhandledCudaError, "the device cannot be described");
  }
  RankPlace place;
  place.host = hash_of(setting("NCCL_HOSTID"));
  std::copy_n(properties.uuid.bytes, place.gpu.size(), place.gpu.begin());
  return place;
}

}  // namespace

NcclRun::NcclRun(std::shared_ptr<const NcclLaunch> launch) : launch_(std::move(launch)) {
  for (const NcclCall& call : launch_->calls) parts_.push_back({NcclTransfer(call)});
}

std::size_t NcclRun::position() const noexcept {
  std::size_t sum = 0;
  for (const Part& part : parts_) sum += part.transfer.position();
  return sum;
}

bool NcclRun::advance(NcclRanks& ranks, NcclProfiler* profiler, RankSet& awaited) {
  for (;;) {  // what was received from itself makes room to send
    const std::size_t before = position();
    if (pass(ranks, profiler, awaited)) return true;
    if (position() == before) return false;
  }
}

bool NcclRun::pass(NcclRanks& ranks, NcclProfiler* profiler, RankSet& awaited) {
  std::set<std::pair<NcclFunction, int>> busy;
  awaited = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.ended) continue;
    const NcclCall& call = part.transfer.call();
    const auto way =
        is_collective(call) ? std::pair(NcclFunction::kAllReduce, 0) : std::pair(call.function, call.peer);
    if (!busy.insert(way).second) continue;
    const bool is_profiled = profiler != nullptr && !launch_->events.empty();
    if (!std::exchange(part.begun, true) && is_profiled) part.channels = profiler->begin(launch_->events[i]);
    part.ended = part.transfer.advance(ranks, awaited);
    if (!part.ended) continue;
    if (is_profiled) profiler->end(part.channels);
    busy.erase(way);
  }
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.ended; });
}

CommunicatorOnHost::CommunicatorOnHost(const ncclUniqueId& id, int count, int rank, bool blocks)
    : blocks_(blocks),
      hash_(hash_of(std::string(id.internal, sizeof id.internal))),
      device_(current_device()),
      ranks_(id, count, rank, place_on(device_)) {}

CommunicatorOnHost::~CommunicatorOnHost() {
  ranks_.leave(is_aborted_);
}

bool CommunicatorOnHost::is_time_to_look() {
  const auto now = steady_clock::now();
  if (now - last_look_ < kLookPeriod) return false;
  last_look_ = now;
  return true;
}

void CommunicatorOnHost::fail(ncclResult_t result, const std::string& why) {
  result_ = result;
  error_ = why;
}

void CommunicatorOnHost::connect() {
  if (!ranks_.is_complete()) {
    const int gone = is_time_to_look() ? ranks_.find_gone(ranks_.everybody()) : -1;
    if (gone >= 0) fail(ncclRemoteError, "rank " + std::to_string(gone) + " went before all had come");
    return;
  }
  const RankPlace& own = ranks_.seat(ranks_.rank()).place;
  for (int peer = 0; peer < count(); ++peer) {
    if (peer == ranks_.rank() || ranks_.seat(peer).place != own) continue;
    return fail(ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(ranks_.rank()) +
                                      " and rank " + std::to_string(peer) + " both on CUDA device " +
                                      std::to_string(device_));
  }
  write_log();
  open_profiler();
  result_ = ncclSuccess;
}

/// The ring, once for each of its channels.
void CommunicatorOnHost::write_log() const {
  std::FILE* const log = debug_log();
  if (log == nullptr || count() == 1) return;
  std::array<char, 64> host{};
  ::gethostname(host.data(), host.size() - 1);
  const int own = ranks_.rank();
  const auto line = [&](std::size_t channel, int from, int to, int peer, const char* direction) {
    const bool is_near = ranks_.seat(peer).place.host == ranks_.seat(own).place.host;
    std::fprintf(log, "%s:%d:%d [%d] NCCL INFO Channel %02zu/0 : %d[%d] -> %d[%d] [%s] via %s\n", host.data(),
                 ::getpid(), ::gettid(), device_, channel, from, device_, to, device_, direction,
                 is_near ? "SHM/direct/direct" : "NET/Socket/0");
  };
  const int next = (own + 1) % count();
  const int previous = (own + count() - 1) % count();
  for (std::size_t channel = 0; channel < NcclProfiler::kChannels; ++channel) {
    line(channel, previous, own, previous, "receive");
    line(channel, own, next, next, "send");
  }
  std::fflush(log);
}

void CommunicatorOnHost::open_profiler() {
  std::set<std::uint64_t> hosts;
  for (int rank = 0; rank < count(); ++rank) hosts.insert(ranks_.seat(rank).place.host);
  profiler_ = NcclProfiler::open(hash_, static_cast<int>(hosts.size()), count(), ranks_.rank());
}

ncclResult_t CommunicatorOnHost::look() {
  const std::lock_guard lock(mutex_);
  is_launching_ = false;
  if (result_ == ncclInProgress) {
    connect();
  } else {
    go_on();
  }
  return result_ == ncclSuccess && is_finalizing_ && !is_idle() ? ncclInProgress : result_;
}

const char* CommunicatorOnHost::error() const {
  const std::lock_guard lock(mutex_);
  return error_.c_str();
}

void CommunicatorOnHost::throw_unless_ready() const {
  const std::lock_guard lock(mutex_);
  if (result_ == ncclInProgress || is_launching_) {
    throw NcclError(ncclInvalidArgument,
                    "Attempt to use communicator before the previous operation returned ncclSuccess");
  }
  if (result_ != ncclSuccess) throw NcclError(result_, error_);
}

std::shared_ptr<const NcclLaunch> CommunicatorOnHost::prepare(std::vector<NcclCall> calls, bool captured) {
  const std::lock_guard lock(mutex_);
  is_launching_ = !blocks_;
  auto launch = std::make_shared<NcclLaunch>();
  if (profiler_ != nullptr) launch->events = profiler_->queue(calls, captured);
  launch->calls = std::move(calls);
  std::erase_if(queued_, [](const auto& one) { return one.expired(); });
  if (!captured) queued_.push_back(launch);
  return launch;
}

bool CommunicatorOnHost::run(const std::shared_ptr<NcclRun>& run) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(run->is_in_line, true)) line_.push_back(run);
  go_on();
  return run->is_over;
}

/// Null when nothing has begun. What its stream has dropped is gone.
std::shared_ptr<NcclRun> CommunicatorOnHost::first_in_line() {
  while (!line_.empty()) {
    if (auto run = line_.front().lock()) return run;
    line_.pop_front();
  }
  return nullptr;
}

bool CommunicatorOnHost::is_idle() {
  return first_in_line() == nullptr &&
         std::all_of(queued_.begin(), queued_.end(), [](const auto& one) { return one.expired(); });
}

void CommunicatorOnHost::go_on() {
  while (const auto run = first_in_line()) {
    if (!has_nothing_to_wait_for(*run)) return;
    run->is_over = true;
    line_.pop_front();
  }
}

/// It has ended, or nothing will come any more.
bool CommunicatorOnHost::has_nothing_to_wait_for(NcclRun& run) {
  if (is_aborted_ || result_ != ncclSuccess) return true;
  RankSet awaited = 0;
  if (run.advance(ranks_, profiler_.get(), awaited)) return true;
  const int gone = is_time_to_look() ? ranks_.find_gone(awaited) : -1;
  if (gone < 0) return false;
  // It may have done its part between the two looks.
  if (run.advance(ranks_, profiler_.get(), awaited)) return true;
  if (ranks_.find_gone(awaited) != gone) return false;
  fail(ncclRemoteError, "Connection closed by remote peer: rank " + std::to_string(gone) + " is gone");
  return true;
}

void CommunicatorOnHost::finalize() {
  const std::lock_guard lock(mutex_);
  is_finalizing_ = true;
}

void CommunicatorOnHost::leave(bool aborted) {
  const std::lock_guard lock(mutex_);
  profiler_.reset();
  is_aborted_ = aborted;
  if (aborted || is_idle()) ranks_.leave(aborted);
  go_on();
}

}  // namespace ddbench::cuda_on_host
