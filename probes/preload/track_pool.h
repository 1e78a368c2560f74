#pragma once

#include <array>
#include <cstddef>

#include "probes/recorder/recorder.h"

namespace ddbench::inject {

/// The tracks of a program's threads. A program may start threads without end: those of ended ones are used again. Not thread-safe; its
/// lock also takes a track from one thread to the next.
class TrackPool {
 public:
  static constexpr std::size_t kMost = 256;  ///< in use at a time: each has a ring

  /// For the calling thread, in the recorder of this generation; those of another one are forgotten (a fork). Null where all are in use.
  /// Throws std::bad_alloc.
  host::Recorder::Track* take(host::Recorder& recorder, unsigned generation, Lane lane) {
    if (generation != generation_) *this = TrackPool(generation);
    for (std::size_t i = 0; i < free_count_; ++i) {
      host::Recorder::Track* const track = free_[i];
      if (track->lane() != lane) continue;
      free_[i] = free_[--free_count_];
      return track;
    }
    if (made_ == kMost) return nullptr;
    host::Recorder::Track& track = recorder.track(lane);
    ++made_;
    return &track;
  }

  /// Its thread records no more.
  void give_back(host::Recorder::Track& track, unsigned generation) noexcept {
    if (generation == generation_) free_[free_count_++] = &track;
  }

  constexpr TrackPool() = default;

 private:
  explicit TrackPool(unsigned generation) : generation_(generation) {}

  unsigned generation_ = 0;
  std::size_t made_ = 0;
  std::size_t free_count_ = 0;
  std::array<host::Recorder::Track*, kMost> free_{};
};

}  // namespace ddbench::inject
