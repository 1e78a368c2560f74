#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "recording.h"

namespace ddbench::nccl_recorder {

/// A thread that makes calls for another one, which waits for each of them.
class CallingThread {
 public:
  CallingThread() : thread_([this] { run(); }) {}
  ~CallingThread();
  CallingThread(const CallingThread&) = delete;
  CallingThread& operator=(const CallingThread&) = delete;

  /// Returns after the call, which does not throw.
  void make(const std::function<void()>& call);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* call_ = nullptr;
  bool ends_ = false;
  std::thread thread_;
};

/// When the first call of a replay is, on the held clock.
inline constexpr std::int64_t kReplayBegins_ns = 1'000'000'000'000;

/// Makes the calls of a recording into the plug-in of that file, as NCCL made them: in their order, from as
/// many threads, and with the clock held at the times that they had (held_clock.h). Timers of GPUs are those
/// of the recording. The recording outlives what the plug-in keeps of it. Once a process: a plug-in of
/// ddbench learns how the GPU's clock stands to the host's. Throws std::runtime_error when the plug-in cannot
/// be opened.
void replay(const Recording& recording, const std::filesystem::path& plugin);

}  // namespace ddbench::nccl_recorder
