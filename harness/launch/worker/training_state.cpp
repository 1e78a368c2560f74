#include "harness/launch/worker/training_state.h"

#include <algorithm>
#include <cstring>

#include "core/clock.h"
#include "core/error.h"

namespace ddbench::launch {

void TrainingState::on_step(std::uint32_t step, double loss) {
  loss_.store(loss, std::memory_order_relaxed);
  steps_completed_.store(step + 1, std::memory_order_release);
  if (stop_requested()) throw Error(ErrorCode::kInterrupted, "stopped by the launcher");
}

bool TrainingState::is_last(std::uint32_t step) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !held_ || last_step_ || stop_requested(); });
  if (stop_requested()) throw Error(ErrorCode::kInterrupted, "stopped by the launcher");
  if (last_step_ && step >= *last_step_) return true;
  in_step_ = step + 1;
  return false;
}

void TrainingState::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

std::uint32_t TrainingState::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
  return in_step_;
}

void TrainingState::set_last_step(std::uint32_t step) {
  {
    const std::lock_guard lock(mutex_);
    last_step_ = step;
  }
  changed_.notify_all();
}

void TrainingState::on_collective_begin(std::string_view function, std::uint64_t sequence) noexcept {
  std::array<std::uint64_t, kNameWords> words{};
  std::memcpy(words.data(), function.data(), std::min(function.size(), sizeof words));
  for (std::size_t i = 0; i < kNameWords; ++i) function_[i].store(words[i], std::memory_order_relaxed);
  sequence_.store(sequence, std::memory_order_relaxed);
  changed_ns_.store(now_ns(), std::memory_order_relaxed);
  inside_.store(true, std::memory_order_release);
}

void TrainingState::on_collective_end(std::uint64_t sequence) noexcept {
  sequence_.store(sequence, std::memory_order_relaxed);
  changed_ns_.store(now_ns(), std::memory_order_relaxed);
  inside_.store(false, std::memory_order_release);
}

Heartbeat TrainingState::snapshot() const {
  Heartbeat heartbeat;
  heartbeat.steps_completed = steps_completed_.load(std::memory_order_acquire);
  heartbeat.loss = loss_.load(std::memory_order_relaxed);
  heartbeat.collective.inside = inside_.load(std::memory_order_acquire);
  heartbeat.collective.sequence = sequence_.load(std::memory_order_relaxed);
  if (const std::int64_t changed_ns = changed_ns_.load(std::memory_order_relaxed); changed_ns != 0) {
    heartbeat.collective.for_ns = now_ns() - changed_ns;
  }
  std::array<std::uint64_t, kNameWords> words{};
  for (std::size_t i = 0; i < kNameWords; ++i) words[i] = function_[i].load(std::memory_order_relaxed);
  std::array<char, sizeof words> characters{};
  std::memcpy(characters.data(), words.data(), sizeof words);
  heartbeat.collective.function.assign(characters.begin(),
                                       std::find(characters.begin(), characters.end(), '\0'));
  return heartbeat;
}

}  // namespace ddbench::launch
