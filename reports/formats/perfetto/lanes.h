#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/span.h"

namespace ddbench::reports::trace {

/// One span on the reference clock, as it is drawn.
struct Slice {
  Span span;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// One thread in the trace: its slices come in order of begin, each nested in or after the preceding ones.
class Track {
 public:
  Track(std::string name, int number) : name_(std::move(name)), number_(number) {}

  /// Appends the slice unless it overlaps an earlier one without nesting, or begins before the last one.
  bool take(const Slice& slice);

  const std::string& name() const noexcept { return name_; }
  int number() const noexcept { return number_; }  ///< unique within the rank, orders the tracks

 private:
  std::string name_;
  int number_;
  std::int64_t last_begin_ns_ = 0;
  std::vector<std::int64_t> open_ends_ns_;
  bool is_empty_ = true;
};

/// The tracks of one rank: the steps, then the lanes, those of GPUs by device and stream (device_queue); a lane whose spans overlap without nesting becomes several tracks
/// ("main", "main 2"). Holds no slices.
class Tracks {
 public:
  struct Place {
    const Track& track;
    bool is_new = false;
  };
  /// The first track of the slice's lane that takes it; a new one if none does. The reference is valid until the next call.
  Place place(const Slice& slice);

 private:
  std::map<std::pair<int, std::uint32_t>, std::vector<Track>> groups_;  // by lane, and device with stream
  std::map<int, int> tracks_of_group_;
};

}  // namespace ddbench::reports::trace
