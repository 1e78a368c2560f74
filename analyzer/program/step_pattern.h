#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddbench::analyzer {

/// A collective of one rank as a probe saw it, in the order in which the program made them.
struct ObservedCollective {
  std::uint32_t function = 0;  ///< equal for equal functions
  std::uint64_t bytes = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// The steps of a training loop that does not mark them.
struct StepPattern {
  std::size_t period = 0;           ///< collectives a step; 0: there is no pattern
  std::vector<std::size_t> firsts;  ///< index of the first collective of each step, ascending
  double covered = 0;  ///< 0 to 1: the share of collectives, from the first step on, that belong to steps
  /// 0 to 1: the share of collectives that belong to steps, from the first one on, times the share of steps
  /// that begin with a pause of about the median's length, or last about as long as the median, whichever is larger.
  double confidence = 0;
};

/// Below this confidence the result is not a pattern.
inline constexpr double kLeastStepConfidence = 0.5;

/// Training repeats itself: the shortest sequence of collectives (function, bytes) whose repetitions cover
/// the recording about as well as any other, beginning at the longest pause (forward, during which nothing is
/// communicated). A step with up to seven equal buckets is distinguished from several steps by its pauses:
/// nearly all that begin a step are clearly longer than nearly all others, however a busy machine stretches
/// some. An evaluation or a checkpoint between two steps belongs to neither. Needs three repetitions. Looks
/// for periods up to 2048 collectives in the first 16384.
StepPattern find_step_pattern(std::span<const ObservedCollective> collectives);

}  // namespace ddbench::analyzer
