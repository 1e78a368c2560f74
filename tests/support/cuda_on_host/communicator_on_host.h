#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nccl_calls.h"
#include "nccl_profiler.h"
#include "nccl_ranks.h"

namespace ddbench::cuda_on_host {

/// Calls of a group that go to a stream together; a graph runs them again and again.
struct NcclLaunch {
  std::vector<NcclCall> calls;
  std::vector<void*> events;  ///< of the profiler, one a call; empty without
};

/// One run of a launch.
class NcclRun {
 public:
  explicit NcclRun(std::shared_ptr<const NcclLaunch> launch);
  /// As NcclTransfer::advance, for all its calls: sends and receives side by side, but one after the other
  /// between the same two ranks, and so collectives.
  bool advance(NcclRanks& ranks, NcclProfiler* profiler, RankSet& awaited);

  bool is_in_line = false;
  bool is_over = false;

 private:
  struct Part {
    NcclTransfer transfer;
    NcclProfiler::Channels channels{};
    bool begun = false;
    bool ended = false;
  };
  bool pass(NcclRanks& ranks, NcclProfiler* profiler, RankSet& awaited);
  std::size_t position() const noexcept;

  const std::shared_ptr<const NcclLaunch> launch_;
  std::vector<Part> parts_;
};

/// What an ncclComm_t stands for. Work on streams keeps it beyond ncclCommDestroy. Any thread; none of its
/// functions waits, nor calls CUDA but the constructor.
class CommunicatorOnHost {
 public:
  /// Throws NcclError.
  CommunicatorOnHost(const ncclUniqueId& id, int count, int rank, bool blocks);
  ~CommunicatorOnHost();
  CommunicatorOnHost(const CommunicatorOnHost&) = delete;
  CommunicatorOnHost& operator=(const CommunicatorOnHost&) = delete;

  int count() const noexcept { return ranks_.count(); }
  bool blocks() const noexcept { return blocks_; }

  /// Goes on with what is under way. ncclInProgress while ranks come and before it was asked after a launch,
  /// when it does not block, and after finalize() until all is done.
  ncclResult_t look();
  /// Of the first error, for good; "" before.
  const char* error() const;
  void throw_unless_ready() const;
  std::shared_ptr<const NcclLaunch> prepare(std::vector<NcclCall> calls, bool captured);
  /// Goes on with the launches that have begun, in the order in which they did. True when this one has ended,
  /// or the communicator.
  bool run(const std::shared_ptr<NcclRun>& run);
  void finalize();
  /// Launches go on to their ends, unless it is aborted: nothing touches the callers' memory any more then.
  void leave(bool aborted);

 private:
  void connect();
  void write_log() const;
  void open_profiler();
  void go_on();
  bool has_nothing_to_wait_for(NcclRun& run);
  std::shared_ptr<NcclRun> first_in_line();
  bool is_idle();
  bool is_time_to_look();
  void fail(ncclResult_t result, const std::string& why);

  mutable std::mutex mutex_;
  const bool blocks_;
  const std::uint64_t hash_;
  int device_ = 0;
  NcclRanks ranks_;
  std::unique_ptr<NcclProfiler> profiler_;
  std::vector<std::weak_ptr<const NcclLaunch>> queued_;  // on streams, until these let go of them
  std::deque<std::weak_ptr<NcclRun>> line_;              // begun, those of graphs too
  ncclResult_t result_ = ncclInProgress;                 // until all ranks have come; then the first error
  std::string error_;
  bool is_launching_ = false;
  bool is_finalizing_ = false;
  bool is_aborted_ = false;
  std::chrono::steady_clock::time_point last_look_;
};

}  // namespace ddbench::cuda_on_host
