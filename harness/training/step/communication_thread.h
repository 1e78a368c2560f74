#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/device/device.h"
#include "harness/training/step/recorded_collectives.h"

namespace ddbench::ddp {

/// The thread that runs a rank's collectives, one after another in the order in which they were handed in,
/// while the rank's own thread computes. Its methods belong to one other thread.
class CommunicationThread {
 public:
  using Job = std::function<void(RecordedCollectives&)>;

  CommunicationThread(collective::Communicator& communicator, host::Recorder& recorder,
                      TrainingMonitor& monitor, cuda::CudaProbe* kernels = nullptr);
  ~CommunicationThread() { stop(); }
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  /// Returns at once, with the job's number; what the job works on must stay until wait() has returned or the thread is
  /// stopped.
  std::uint64_t submit(Job job);

  /// Blocks until every job handed in is done. Throws the Error of the first that failed; the ones after it
  /// were not begun.
  void wait() { wait(submitted_jobs_); }
  /// The same of the jobs up to this number.
  void wait(std::uint64_t job);

  /// The threads that carry out collectives, as ids of host::own_thread(): this one, and the library's own.
  /// Blocks until this one has begun.
  std::vector<int> threads() const;

  /// What jobs are given, for the calling thread: only while no job is handed in.
  RecordedCollectives& collectives() noexcept { return collectives_; }

  /// Ends the thread; aborts the communicator when jobs are still under way: someone is leaving by an
  /// exception. Idempotent.
  void stop();

 private:
  void run();

  collective::Communicator& communicator_;
  RecordedCollectives collectives_;

  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable finished_;
  std::deque<Job> jobs_;
  std::uint64_t submitted_jobs_ = 0;  // of the submitting thread
  std::uint64_t finished_jobs_ = 0;
  std::uint64_t awaited_job_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
  static constexpr int kNotBegun = -1;
  std::atomic<int> thread_id_{kNotBegun};
  std::thread thread_;
};

/// Hands a job in for when the device has done what was called for so far.
std::uint64_t submit_after(device::Device& device, CommunicationThread& communication, CommunicationThread::Job job);

/// Stops the thread at its own end: declared after the memory that collectives work on, it ends them first.
class EndOfCommunication {
 public:
  explicit EndOfCommunication(CommunicationThread& thread) : thread_(thread) {}
  ~EndOfCommunication() { thread_.stop(); }
  EndOfCommunication(const EndOfCommunication&) = delete;
  EndOfCommunication& operator=(const EndOfCommunication&) = delete;

 private:
  CommunicationThread& thread_;
};

}  // namespace ddbench::ddp
