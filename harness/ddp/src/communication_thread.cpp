#include "communication_thread.h"

#include <string_view>

#include "ddbench/record/clock.h"

namespace ddbench::ddp {
namespace {

constexpr std::string_view kNames[] = {"all_reduce", "broadcast", "barrier"};

}  // namespace

CommunicationThread::CommunicationThread(collective::Communicator& communicator, host::Recorder& recorder,
                                         TrainingMonitor& monitor)
    : communicator_(communicator),
      recorder_(recorder),
      monitor_(monitor),
      name_ids_{recorder.intern(kNames[0]), recorder.intern(kNames[1]), recorder.intern(kNames[2])},
      thread_([this] { run(); }) {}

CommunicationThread::~CommunicationThread() {
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

void CommunicationThread::all_reduce_sum(std::span<float> data, std::uint32_t step, std::uint16_t bucket) {
  submit({.function = Function::kAllReduce, .data = data, .step = step, .bucket = bucket});
}

void CommunicationThread::broadcast(std::span<float> data, int root) {
  submit({.function = Function::kBroadcast, .data = data, .root = root});
}

void CommunicationThread::barrier() {
  submit({});
}

void CommunicationThread::submit(const Request& request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    ++unfinished_;
  }
  submitted_.notify_one();
}

void CommunicationThread::wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return unfinished_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void CommunicationThread::run() {
  track_ = &recorder_.track(Lane::kCommunication);
  std::unique_lock lock(mutex_);
  for (;;) {
    submitted_.wait(lock, [this] { return stopping_ || !requests_.empty(); });
    if (stopping_) return;
    const Request request = requests_.front();
    requests_.pop_front();
    std::exception_ptr failure = failure_;
    if (!failure) {
      lock.unlock();
      try {
        execute(request);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
    }
    failure_ = failure;
    if (--unfinished_ == 0) finished_.notify_one();
  }
}

void CommunicationThread::execute(const Request& request) {
  const auto function = static_cast<std::size_t>(request.function);
  const std::uint64_t sequence = ++sequence_;
  monitor_.on_collective_begin(kNames[function], sequence);
  Span span{.begin_ns = now_ns(),
            .bytes = request.data.size_bytes(),
            .correlation = collective_key(communicator_.id(), sequence),
            .name_id = name_ids_[function],
            .step = request.step,
            .kind = SpanKind::kCommunication,
            .lane = Lane::kCommunication,
            .bucket = request.bucket};
  switch (request.function) {
    case Function::kAllReduce: communicator_.all_reduce_sum(request.data); break;
    case Function::kBroadcast: communicator_.broadcast(request.data, request.root); break;
    case Function::kBarrier: communicator_.barrier(); break;
  }
  span.end_ns = now_ns();
  track_->record(span);
  monitor_.on_collective_end(sequence);
}

}  // namespace ddbench::ddp
