#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ddbench::device {

/// Work of a device's queue that was captured once and can be queued again as a whole: the same operators on
/// the same memory with the same numbers. The device outlives it. One thread at a time, except for is_done().
class Graph {
 public:
  virtual ~Graph() = default;
  /// Queue: runs the whole graph once more. Throws Error{kRunFailed} when the device rejects it.
  virtual void launch() = 0;
  /// Whether the last launch is done. From any thread. Throws Error{kRunFailed} when it failed.
  virtual bool is_done() = 0;
  /// The times at which the last launch, which is done, passed the points that stamp() and stamp_aside()
  /// noted in the capture, on the clock as the device's read_stamps() found it last.
  virtual void read_stamps(std::vector<std::int64_t>& times_ns) = 0;
  /// The graph will not be launched again: frees its resources after launches in progress. From any thread.
  virtual void release() noexcept = 0;
};

/// Captures a device's queue. Between begin() and end() operators are noted and not run, the device's
/// download(), synchronize(), allocate() and wait_for() fail, and stamp() counts anew from 0. A failed
/// capture is reported at the latest by end(); after it, or cancel(), the queue is as it was before begin().
/// All in one thread.
class GraphCapture {
 public:
  virtual ~GraphCapture() = default;
  virtual void begin() = 0;
  /// Calls `action` at once with a queue of its own, a cudaStream_t: its work runs after everything captured
  /// before, in parallel with what is captured later, and is done when the graph is.
  virtual void aside(const std::function<void(void* stream)>& action) = 0;
  /// What is captured from now on runs after all that was captured aside so far.
  virtual void join() = 0;
  /// As Device::stamp(), from within `action` and of its queue.
  virtual std::size_t stamp_aside() noexcept = 0;
  virtual std::unique_ptr<Graph> end() = 0;
  /// Ends a capture without a graph. Does nothing outside of one.
  virtual void cancel() noexcept = 0;
};

}  // namespace ddbench::device
