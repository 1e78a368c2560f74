#include "harness/training/step/communication_thread.h"

#include <utility>

#include "probes/machine/run_queue.h"

namespace ddbench::ddp {

CommunicationThread::CommunicationThread(collective::Communicator& communicator, host::Recorder& recorder,
                                         TrainingMonitor& monitor, cuda::CudaProbe* kernels)
    : communicator_(communicator),
      collectives_(communicator, recorder, monitor, kernels),
      thread_([this] { run(); }) {}

std::uint64_t CommunicationThread::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ++submitted_jobs_;
  }
  submitted_.notify_one();
  return submitted_jobs_;
}

void CommunicationThread::wait(std::uint64_t job) {
  std::unique_lock lock(mutex_);
  awaited_job_ = job;
  finished_.wait(lock, [&] { return finished_jobs_ >= job; });
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
    busy = finished_jobs_ < submitted_jobs_;
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
    if (++finished_jobs_ == awaited_job_) finished_.notify_one();
  }
}

std::uint64_t submit_after(device::Device& device, CommunicationThread& communication, CommunicationThread::Job job) {
  if (device.is_host()) return communication.submit(std::move(job));
  return communication.submit(
      [&device, done = device.mark(), job = std::move(job)](RecordedCollectives& collectives) {
        // On the GPU, not here: a thread that wakes up late would make the collective late.
        if (!collectives.start_after(device.event_of(done))) device.wait_for(done);
        job(collectives);
      });
}

}  // namespace ddbench::ddp
