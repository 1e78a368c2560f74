// Events: points of a stream, and of a capture.
#include <chrono>

#include "stream.h"

using namespace ddbench::cuda_on_host;
using std::chrono::steady_clock;

struct CUevent_st {
  bool is_timed = true;
  // What was recorded last: work of a queue,
  std::shared_ptr<Queue> queue;
  std::uint64_t number = 0;
  // or a place in a capture.
  std::weak_ptr<Capture> capture;
  cudaStream_t captured_on = nullptr;
  // When it was passed; kept where work finds it that outlives the event.
  std::shared_ptr<steady_clock::time_point> passed = std::make_shared<steady_clock::time_point>();
};

namespace {

bool is_passed(const CUevent_st& event) {
  return event.queue == nullptr || advance(*event.queue, event.number);
}

cudaError_t capture_event(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags != cudaEventRecordExternal) {
    event->capture = stream->capture;
    event->captured_on = stream;
    return cudaSuccess;
  }
  event->queue.reset();  // the graph's launch reports it, and the stream is queried for that
  return enqueue(stream, [passed = event->passed] {
    *passed = steady_clock::now();
    return true;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->is_timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  const std::lock_guard lock(device_lock());
  if (stream->capture) return capture_event(event, stream, flags);
  if (flags == cudaEventRecordExternal) return remember(cudaErrorIllegalState);
  event->capture.reset();
  event->queue = stream->queue;
  event->number = stream->queue->added + 1;
  return enqueue(stream, [passed = event->passed] {
    *passed = steady_clock::now();
    return true;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(device_lock());
  if (const auto capture = event->capture.lock()) {
    capture->broken = true;
    return remember(cudaErrorCapturedEvent);
  }
  if (breaks_capture()) return remember(cudaErrorStreamCaptureUnsupported);
  return is_passed(*event) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  for (;;) {
    const cudaError_t status = cudaEventQuery(event);
    if (status != cudaErrorNotReady) return status;
    std::this_thread::sleep_for(kRest);
  }
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const std::lock_guard lock(device_lock());
  if (!begin->is_timed || !end->is_timed) return remember(cudaErrorInvalidResourceHandle);
  const steady_clock::time_point never{};
  if (*begin->passed == never || *end->passed == never) return remember(cudaErrorInvalidResourceHandle);
  if (!is_passed(*begin) || !is_passed(*end)) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(*end->passed - *begin->passed).count();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(device_lock());
  const auto captured = event->capture.lock();
  if (stream->capture != captured && stream->capture) {
    // Even an event that was never recorded may not come from outside.
    if (event->queue == nullptr) return cudaSuccess;
    stream->capture->broken = true;
    return remember(cudaErrorStreamCaptureIsolation);
  }
  if (captured == nullptr) {
    if (event->queue == nullptr) return cudaSuccess;
    return enqueue(stream,
                   [queue = event->queue, number = event->number] { return advance(*queue, number); });
  }
  if (!stream->capture) {
    stream->capture = captured;
    captured->others.emplace(stream, false);
  } else if (captured->others.contains(event->captured_on)) {
    captured->others[event->captured_on] = true;
  }
  return cudaSuccess;
}

}  // extern "C"
