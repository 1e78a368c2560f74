#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// The launcher's side of the agreement on the last step. Ranks may be a step apart and learn of it at
/// different moments, but must all end with the same one. So each is first asked for its horizon (Hold): the
/// step that it does not pass without a further message. When all have answered, the furthest horizon is the
/// last step: none has begun a later one, and all can reach it. A later round, with a shorter lead, voids an
/// earlier one: no horizon of it is beyond a last step that was named before.
class LastStepAgreement {
 public:
  explicit LastStepAgreement(std::size_t ranks) : horizons_(ranks) {}

  /// Begins a round, and returns what to post to every rank.
  Hold ask(std::int64_t lead_ns) {
    std::fill(horizons_.begin(), horizons_.end(), std::nullopt);
    last_step_.reset();
    return {++round_, lead_ns};
  }

  /// Takes an answer. Returns the last step when it is the answer that was missing. Answers to earlier rounds and second ones
  /// change nothing.
  std::optional<std::uint32_t> add(std::size_t rank, const Holding& holding) {
    if (round_ == 0 || holding.round != round_ || last_step_) return std::nullopt;
    horizons_.at(rank) = holding.step;
    std::uint32_t furthest = 0;
    for (const std::optional<std::uint32_t>& horizon : horizons_) {
      if (!horizon) return std::nullopt;
      furthest = std::max(furthest, *horizon);
    }
    last_step_ = furthest;
    return last_step_;
  }

  /// From the newest round.
  std::optional<std::uint32_t> last_step() const noexcept { return last_step_; }

 private:
  std::vector<std::optional<std::uint32_t>> horizons_;
  std::optional<std::uint32_t> last_step_;
  std::uint32_t round_ = 0;
};

}  // namespace ddbench::launch
