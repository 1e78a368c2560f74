#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

#include "ddbench/collective/communicator.h"
#include "ddbench/ddp/train.h"
#include "ddbench/host/recorder.h"

namespace ddbench::ddp {

/// The thread that runs a rank's collectives, one after another in the order in which they were handed in,
/// while the rank's own thread computes. Records each as a communication span and tells the monitor. Its
/// methods belong to one other thread.
class CommunicationThread {
 public:
  CommunicationThread(collective::Communicator& communicator, host::Recorder& recorder,
                      TrainingMonitor& monitor);
  /// Aborts the communicator when collectives are still under way: someone is leaving by an exception.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  /// Return at once; `data` must stay until wait() has returned.
  void all_reduce_sum(std::span<float> data, std::uint32_t step, std::uint16_t bucket);
  void broadcast(std::span<float> data, int root);
  void barrier();

  /// Blocks until everything handed in is done. Throws the Error of the first collective that failed; the
  /// ones after it were not begun.
  void wait();

 private:
  enum class Function : std::uint8_t { kAllReduce, kBroadcast, kBarrier };
  struct Request {
    Function function = Function::kBarrier;
    std::span<float> data;
    int root = 0;
    std::uint32_t step = kNoStep;
    std::uint16_t bucket = kNoBucket;
  };

  void submit(const Request& request);
  void run();
  void execute(const Request& request);

  collective::Communicator& communicator_;
  host::Recorder& recorder_;
  TrainingMonitor& monitor_;
  const std::uint32_t name_ids_[3];
  std::uint64_t sequence_ = 0;
  host::Recorder::Track* track_ = nullptr;  // the thread's own

  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable finished_;
  std::deque<Request> requests_;
  int unfinished_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace ddbench::ddp
