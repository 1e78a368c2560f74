#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/span.h"
#include "probes/recorder/span_ring.h"

namespace ddbench::host {

struct RecorderOptions {
  std::filesystem::path spool;           ///< file to create; its directory exists
  std::size_t ring_capacity = 1u << 15;  ///< spans a thread
  int rank = 0;
  std::string run_id;
};

/// What recording has cost so far: a direct account.
struct RecorderCost {
  std::uint64_t spans = 0;        ///< recorded, over all tracks
  double push_ns = 0;             ///< of one: two readings of the clock and its way into the ring, as measured
  std::int64_t drain_cpu_ns = 0;  ///< processor time of the drain thread
};

/// One per rank process: owns a ring for each recording thread and the thread that drains them into the spool
/// file. Construct, intern names and call track() before the timed region; record through the tracks inside
/// it. The drain thread inherits the CPU affinity of the thread that constructs the Recorder, and takes no
/// signals.
class Recorder {
 public:
  /// Throws Error{kEnvironment} when the spool cannot be created or another process is writing it,
  /// Error{kBadInput} for a ring capacity that SpanRing refuses.
  explicit Recorder(const RecorderOptions& options);
  ~Recorder();  ///< stops without throwing; call stop() to learn of errors
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Where one thread records. Stays valid as long as the Recorder.
  class Track {
   public:
    /// Owner thread only. Does nothing while the recorder is disabled, except for kStep spans. The span's
    /// lane becomes the track's. False when the span was not kept: the recorder is disabled, or the ring was
    /// full, which drops the span and counts it.
    bool record(const Span& span) noexcept {
      if (!records(span.kind)) return false;
      Span stamped = span;
      stamped.lane = lane_;
      return ring_.push(stamped);
    }
    bool enabled() const noexcept { return enabled_.load(std::memory_order_relaxed); }
    /// Whether a span of this kind would be kept now.
    bool records(SpanKind kind) const noexcept { return enabled() || kind == SpanKind::kStep; }
    Lane lane() const noexcept { return lane_; }

   private:
    friend class Recorder;
    Track(Lane lane, std::size_t capacity, const std::atomic<bool>& enabled)
        : enabled_(enabled), lane_(lane), ring_(capacity) {}

    const std::atomic<bool>& enabled_;
    const Lane lane_;
    SpanRing ring_;
  };

  /// A track for the calling thread's spans on `lane`. Thread-safe; allocates a ring on each call: once a
  /// thread, and not in the timed region.
  Track& track(Lane lane);
  /// Thread-safe; allocates on a new name: intern before the timed region. Ids count up from 0.
  std::uint32_t intern(std::string_view name);

  /// Probe-on and probe-off windows. Takes effect at once for all threads. On at construction. While they are
  /// off the drain thread rests, unless a ring gets full or flush() waits: its work is that of the windows with
  /// the probes on.
  void set_enabled(bool enabled) noexcept;

  /// A value that belongs to a step ("loss"). Not for the inside of a timed region. Thread-safe.
  void record_scalar(std::string_view name, std::uint32_t step, double value);

  /// Blocks until everything that was recorded before is in the spool file, where it outlives this process.
  /// Returns also when the spool cannot be written (failure()).
  void flush();

  /// Spans lost so far, over all tracks: to full rings, and after a failure() all that were not yet spooled.
  std::uint64_t dropped() const noexcept;
  /// Set when the spool could not be written (disk full, ...): the drain thread has stopped and spans are
  /// dropped. Thread-safe; empty while all is well.
  std::string failure() const;

  /// Thread-safe.
  RecorderCost cost() const;

  /// Drains everything, writes the end frame, closes. Throws the Error that stopped the drain thread, if any.
  /// What is recorded after it is not spooled. A second call does nothing.
  void stop();

 private:
  class Drain;
  std::unique_ptr<Drain> drain_;
};

/// Records [construction, destruction) as a span on a track; owner thread of the track only.
/// While the recorder is disabled it does not even read the clock.
class ScopedSpan {
 public:
  ScopedSpan(Recorder::Track& track, SpanKind kind, std::uint32_t name_id, std::uint32_t step = kNoStep,
             std::uint64_t bytes = 0, std::uint16_t bucket = kNoBucket) noexcept
      : track_(track), active_(track.records(kind)) {
    span_.kind = kind;
    span_.name_id = name_id;
    span_.step = step;
    span_.bytes = bytes;
    span_.bucket = bucket;
    if (active_) span_.begin_ns = now_ns();
  }
  ~ScopedSpan() {
    if (!active_) return;
    span_.end_ns = now_ns();
    track_.record(span_);
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

 private:
  Recorder::Track& track_;
  Span span_;
  const bool active_;
};

}  // namespace ddbench::host
