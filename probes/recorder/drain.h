#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/name_table.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/spool.h"
#include "probes/recorder/spool_writer.h"

namespace ddbench::host {

/// How long the drain thread sleeps after a round in which the fullest ring was `fullest` full (0 to 1): not
/// at all when rings fill fast, longer and longer (up to 20 ms) while little comes.
std::chrono::microseconds next_pause(std::chrono::microseconds pause, double fullest) noexcept;

/// What stands behind a Recorder: its tracks, names and scalars, and the thread that writes them to the
/// spool.
class Recorder::Drain {
 public:
  explicit Drain(const RecorderOptions& options);
  ~Drain();

  Track& add_track(Lane lane);
  std::uint32_t intern(std::string_view name);
  void add_scalar(std::string_view name, std::uint32_t step, double value);
  void set_enabled(bool enabled) noexcept { enabled_.store(enabled, std::memory_order_relaxed); }
  std::uint64_t dropped() const noexcept;
  std::string failure() const;
  RecorderCost cost() const;
  void flush();
  /// Ends the thread and writes the rest; the Error that stopped it, if any. Once.
  std::optional<Error> stop();

 private:
  void start();
  void run() noexcept;
  double drain_once();
  bool is_waited_for() const;
  double fullest() const noexcept;
  bool write_spans(SpanRing& ring);
  void write_pending();
  void write_dropped();
  void fail(const Error& error);
  std::uint64_t dropped_locked() const noexcept;

  // Read on every record(): on a line that nothing else writes to.
  alignas(64) std::atomic<bool> enabled_{true};
  alignas(64) const std::size_t ring_capacity_;
  const double push_ns_;
  SpoolWriter writer_;  ///< of the drain thread, and of stop() after it

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Track>> tracks_;
  NameTable names_;
  std::vector<std::string> new_names_;
  std::vector<Scalar> new_scalars_;
  std::optional<Error> failure_;
  bool stopping_ = false;
  std::condition_variable flushed_;
  std::uint64_t rounds_begun_ = 0;
  std::uint64_t rounds_done_ = 0;
  std::uint64_t rounds_wanted_ = 0;   ///< by flush(): the thread does not sleep before this one is done
  std::atomic<bool> pending_{false};  ///< new_names_ or new_scalars_ holds something

  // Used by the drain thread only.
  std::vector<Track*> drained_;
  std::uint64_t written_dropped_ = 0;
  std::atomic<std::int64_t> cpu_ns_{0};  ///< of this thread, for all to read

  std::thread thread_;
};

}  // namespace ddbench::host
