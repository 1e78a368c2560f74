#include "harness/training/step/communication_thread.h"

#include <utility>

#include "probes/machine/run_queue.h"

namespace ddbench::ddp {

CommunicationThread::CommunicationThread(collective::Communicator& communicator, host::Recorder& recorder,
                                         TrainingMonitor& monitor, cuda::CudaProbe* kernels)
    : communicator_(communicator),
      collectives_(communicator, recorder, monitor, kernels),
      thread_([this] { run(); }) {}

void CommunicationThread::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ++unfinished_;
  }
  submitted_.notify_one();
}

void CommunicationThread::wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return unfinished_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

std::vector<int> CommunicationThread::threads() const {
  thread_id_.wait(kNotBegun);
  std::vector<int> threads = communicator_.transport_threads();
  threads.push_back(thread_id_);
  return threads;
}

void CommunicationThread::stop() {
  if (!thread_.joinable()) return;
  bool busy = false;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    busy = unfinished_ > 0;
  }
  submitted_.notify_one();
  if (busy) communicator_.abort();
  thread_.join();
}

void CommunicationThread::run() {
  thread_id_ = host::own_thread();
  thread_id_.notify_all();
  collectives_.start();
  std::unique_lock lock(mutex_);
  for (;;) {
    submitted_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    std::exception_ptr failure = failure_;
    if (!failure) {
      lock.unlock();
      try {
        job(collectives_);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
    }
    failure_ = failure;
    if (--unfinished_ == 0) finished_.notify_one();
  }
}

void submit_after(device::Device& device, CommunicationThread& communication, CommunicationThread::Job job) {
  if (device.is_host()) return communication.submit(std::move(job));
  communication.submit(
      [&device, done = device.mark(), job = std::move(job)](RecordedCollectives& collectives) {
        device.wait_for(done);
        job(collectives);
      });
}

}  // namespace ddbench::ddp
