#include "harness/launch/worker/training_state.h"

#include <algorithm>
#include <cstring>

#include "core/clock.h"
#include "core/error.h"
#include "core/span.h"

namespace ddbench::launch {
namespace {

constexpr double kPaceSteps = 8;  // over which the pace is a moving average

}  // namespace

void TrainingState::on_step(std::uint32_t step, double loss) {
  loss_.store(loss, std::memory_order_relaxed);
  collectives_at_step_ns_.store(collectives_ns_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  steps_completed_.store(step + 1, std::memory_order_release);
  if (stop_requested()) throw Error(ErrorCode::kInterrupted, "stopped by the launcher");
}

void TrainingState::on_begin(std::uint32_t first_step) {
  const std::lock_guard lock(mutex_);
  begin_step(first_step);
}

void TrainingState::begin_step(std::uint32_t step) {
  in_step_ = step;
  step_began_ns_ = now_ns();
  if (windows_ && measured_from_ns_ == 0 && windows_->is_measured(step)) measured_from_ns_ = step_began_ns_;
}

ddp::TrainingEnd TrainingState::end_after(std::uint32_t step) {
  std::unique_lock lock(mutex_);
  // Before it waits: that would not be its pace.
  const auto took_ns = static_cast<double>(now_ns() - step_began_ns_);
  if (step_began_ns_ != 0) pace_ns_ = pace_ns_ == 0 ? took_ns : pace_ns_ + (took_ns - pace_ns_) / kPaceSteps;
  if (horizon_ && step >= *horizon_ && !last_step_) wait_for_word(lock);
  if (stop_requested()) throw Error(ErrorCode::kInterrupted, "stopped by the launcher");
  if (last_step_ && step >= *last_step_) return {true, with_checkpoint_};
  begin_step(step + 1);
  return {};
}

void TrainingState::wait_for_word(std::unique_lock<std::mutex>& lock) {
  const std::int64_t since_ns = now_ns();
  changed_.wait(lock, [&] { return last_step_ || stop_requested(); });
  ++waits_.count;
  waits_.total_ns += now_ns() - since_ns;
}

void TrainingState::on_step_time(std::uint32_t step, std::int64_t duration_ns) {
  const std::lock_guard lock(mutex_);
  if (windows_) windows_->add(step, duration_ns);
}

void TrainingState::on_long_work(ddp::LongWork work) noexcept {
  long_work_.store(work, std::memory_order_relaxed);
  pieces_.fetch_add(1, std::memory_order_relaxed);
}

void TrainingState::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

std::uint32_t TrainingState::hold(std::int64_t lead_ns) {
  const std::lock_guard lock(mutex_);
  last_step_.reset();
  std::uint32_t ahead = 0;
  if (lead_ns > 0 && pace_ns_ > 0) {
    const auto at_ns = static_cast<double>(now_ns() - step_began_ns_ + lead_ns);
    ahead = static_cast<std::uint32_t>(std::clamp(at_ns / pace_ns_, 0.0, double{kMostSteps}));
  }
  horizon_ = in_step_ + ahead;
  return *horizon_;
}

void TrainingState::set_last_step(std::uint32_t step, bool with_checkpoint) {
  {
    const std::lock_guard lock(mutex_);
    last_step_ = step;
    with_checkpoint_ = with_checkpoint;
  }
  changed_.notify_all();
}

void TrainingState::keep_flight(const std::string& file, std::uint16_t communicator) {
  communicator_ = communicator;
  flight_ = host::map_flight_ring(file.c_str());
}

void TrainingState::gather_step_times(std::uint32_t first_measured) {
  const std::lock_guard lock(mutex_);
  windows_.emplace(first_measured);
}

std::optional<StepTimes> TrainingState::step_times() {
  const std::lock_guard lock(mutex_);
  if (!windows_) return std::nullopt;
  return StepTimes{measured_from_ns_ == 0 ? 0 : now_ns() - measured_from_ns_, windows_->take()};
}

void TrainingState::on_own_time(const ddp::OwnTime& time) {
  const std::lock_guard lock(mutex_);
  own_time_ = {time.steps, time.compute_ns, time.data_ns, time.cpu_wait_ns};
}

std::optional<RankOwnTime> TrainingState::own_time() const {
  const std::lock_guard lock(mutex_);
  return own_time_;
}

TrainingState::Waits TrainingState::waits() const {
  const std::lock_guard lock(mutex_);
  return waits_;
}

void TrainingState::on_collective_begin(std::string_view function, std::uint64_t sequence) noexcept {
  std::array<std::uint64_t, kNameWords> words{};
  std::memcpy(words.data(), function.data(), std::min(function.size(), sizeof words));
  for (std::size_t i = 0; i < kNameWords; ++i) function_[i].store(words[i], std::memory_order_relaxed);
  sequence_.store(sequence, std::memory_order_relaxed);
  const std::int64_t at_ns = now_ns();
  changed_ns_.store(at_ns, std::memory_order_relaxed);
  inside_.store(true, std::memory_order_release);
  if (flight_ != nullptr) flight_place_ = flight_->enter(function, collective_key(communicator_, sequence), at_ns);
}

void TrainingState::on_collective_end(std::uint64_t sequence) noexcept {
  sequence_.store(sequence, std::memory_order_relaxed);
  const std::int64_t at_ns = now_ns();
  if (inside_.load(std::memory_order_relaxed))
    collectives_ns_.fetch_add(at_ns - changed_ns_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  changed_ns_.store(at_ns, std::memory_order_relaxed);
  inside_.store(false, std::memory_order_release);
  if (flight_ != nullptr) flight_->leave(flight_place_, at_ns);
}

Heartbeat TrainingState::snapshot() const {
  Heartbeat heartbeat;
  heartbeat.steps_completed = steps_completed_.load(std::memory_order_acquire);
  heartbeat.loss = loss_.load(std::memory_order_relaxed);
  heartbeat.collectives_ns = collectives_at_step_ns_.load(std::memory_order_relaxed);
  heartbeat.long_work = long_work_.load(std::memory_order_relaxed);
  heartbeat.pieces = pieces_.load(std::memory_order_relaxed);
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
