#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "ddbench/host/span_ring.h"
#include "ddbench/record/span.h"

namespace ddbench::host {

struct RecorderOptions {
  std::filesystem::path spool;             ///< file to create; its directory exists
  std::size_t ring_capacity = 1u << 15;    ///< spans a thread
  int rank = 0;
  std::string run_id;
};

/// One per rank process: owns a ring for each recording thread and the thread that drains them into the spool file.
/// Construct, intern names and call track() before the timed region; record through the tracks inside it.
class Recorder {
 public:
  explicit Recorder(const RecorderOptions& options);  ///< throws Error when the spool cannot be created
  ~Recorder();                                        ///< stops without throwing; call stop() to learn of errors

  /// Where one thread records. Stays valid as long as the Recorder.
  class Track {
   public:
    /// Owner thread only. Does nothing while the recorder is disabled, except for kStep spans.
    void record(const Span& span) noexcept;
    bool enabled() const noexcept;
  };

  /// A track for the calling thread's spans on `lane`. Thread-safe; allocates: not in the timed region.
  Track& track(Lane lane);
  /// Thread-safe; allocates on a new name: intern before the timed region.
  std::uint32_t intern(std::string_view name);

  /// Probe-on and probe-off windows. Takes effect at once for all threads.
  void set_enabled(bool enabled) noexcept;

  /// A value that belongs to a step ("loss"). Not for the inside of a timed region. Thread-safe.
  void record_scalar(std::string_view name, std::uint32_t step, double value);

  /// Spans lost to full rings so far, over all tracks.
  std::uint64_t dropped() const noexcept;
  /// Set when the spool could not be written (disk full, ...): the drain thread has stopped and spans are dropped.
  /// Thread-safe; empty while all is well.
  std::string failure() const;

  /// Drains everything, writes the end frame, closes. Throws the Error that stopped the drain thread, if any.
  void stop();
};

/// Records [construction, destruction) as a span on a track.
class ScopedSpan;

}  // namespace ddbench::host
