#include "probes/recorder/drain.h"

#include <fmt/format.h>
#include <pthread.h>

#include <time.h>

#include <algorithm>
#include <array>
#include <exception>
#include <system_error>
#include <utility>

#include "core/threads/signals_blocked.h"
#include "probes/recorder/spool_format.h"

namespace ddbench::host {
namespace {

using std::chrono::microseconds;

constexpr microseconds kShortestPause{250};
constexpr microseconds kLongestPause{20'000};
constexpr double kRestsBelow = 0.25;  // of a ring

/// Processor time of the calling thread.
std::int64_t own_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// What a span costs the thread that records it: two readings of the clock and a push, the median of batches.
double measure_push_ns() {
  constexpr std::size_t kBatch = 64;
  std::array<double, 15> batches;
  SpanRing ring(kBatch);
  for (double& batch_ns : batches) {
    const std::int64_t begin_ns = now_ns();
    for (std::size_t i = 0; i < kBatch; ++i) {
      Span span;
      span.begin_ns = now_ns();
      span.end_ns = now_ns();
      ring.push(span);
    }
    batch_ns = static_cast<double>(now_ns() - begin_ns) / kBatch;
    ring.discard(ring.size());
  }
  std::nth_element(batches.begin(), batches.begin() + 7, batches.end());
  return batches[7];
}

}  // namespace

microseconds next_pause(microseconds pause, double fullest) noexcept {
  if (fullest >= 0.5) return microseconds{0};
  if (fullest >= 0.125) return std::max(pause / 2, kShortestPause);
  if (fullest < 0.03125) return std::clamp(pause * 2, kShortestPause, kLongestPause);
  return std::max(pause, kShortestPause);
}

Recorder::Drain::Drain(const RecorderOptions& options)
    : ring_capacity_(options.ring_capacity), push_ns_(measure_push_ns()), writer_(options.spool, options.rank, options.run_id) {
  start();
}

Recorder::Drain::~Drain() {
  stop();
}

void Recorder::Drain::start() {
  // A file size limit, too, must come as an error of write, not as SIGXFSZ.
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "ddbench-drain");
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("cannot start the thread that writes the spool: {}; raise the limit of processes "
                            "(ulimit -u)",
                            error.what()),
                error.code().value(), "pthread_create");
  }
}

Recorder::Track& Recorder::Drain::add_track(Lane lane) {
  std::unique_ptr<Track> track(new Track(lane, ring_capacity_, enabled_));
  const std::lock_guard lock(mutex_);
  tracks_.push_back(std::move(track));
  return *tracks_.back();
}

std::uint32_t Recorder::Drain::intern(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const std::size_t known = names_.names().size();
  const std::uint32_t id = names_.intern(name);
  if (id == known && !failure_) {
    new_names_.emplace_back(name);
    pending_.store(true, std::memory_order_release);
  }
  return id;
}

void Recorder::Drain::add_scalar(std::string_view name, std::uint32_t step, double value) {
  const std::uint32_t id = intern(name);
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  new_scalars_.push_back({id, step, value});
  pending_.store(true, std::memory_order_release);
}

std::uint64_t Recorder::Drain::dropped_locked() const noexcept {
  std::uint64_t total = 0;
  for (const auto& track : tracks_) {
    total += track->ring_.dropped();
    if (failure_) total += track->ring_.size();
  }
  return total;
}

std::uint64_t Recorder::Drain::dropped() const noexcept {
  const std::lock_guard lock(mutex_);
  return dropped_locked();
}

std::string Recorder::Drain::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_ ? failure_->message() : std::string();
}

void Recorder::Drain::flush() {
  std::unique_lock lock(mutex_);
  // A round that has begun may have missed spans recorded since.
  const std::uint64_t wanted = rounds_begun_ + 1;
  rounds_wanted_ = std::max(rounds_wanted_, wanted);
  wake_.notify_one();
  flushed_.wait(lock, [&] { return rounds_done_ >= wanted || failure_ || stopping_; });
}

void Recorder::Drain::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  failure_ = error;
  new_names_.clear();
  new_scalars_.clear();
  flushed_.notify_all();
}

void Recorder::Drain::run() noexcept {
  try {
    microseconds pause = kShortestPause;
    while (true) {
      const bool rests = !enabled_.load(std::memory_order_relaxed) && fullest() < kRestsBelow;
      pause = rests && !is_waited_for() ? kLongestPause : next_pause(pause, drain_once());
      cpu_ns_.store(own_cpu_ns(), std::memory_order_relaxed);
      std::unique_lock lock(mutex_);
      rounds_done_ = rounds_begun_;
      flushed_.notify_all();
      wake_.wait_for(lock, pause, [this] { return stopping_ || rounds_wanted_ > rounds_done_; });
      if (stopping_) return;
    }
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(ErrorCode::kRunFailed, fmt::format("cannot spool spans any more: {}", error.what())));
  }
}

bool Recorder::Drain::is_waited_for() const {
  const std::lock_guard lock(mutex_);
  return rounds_wanted_ > rounds_done_;
}

double Recorder::Drain::fullest() const noexcept {
  double fullest = 0;
  for (const Track* track : drained_) {
    const SpanRing& ring = track->ring_;
    fullest = std::max(fullest, static_cast<double>(ring.size()) / static_cast<double>(ring.capacity()));
  }
  return fullest;
}

RecorderCost Recorder::Drain::cost() const {
  RecorderCost cost;
  cost.push_ns = push_ns_;
  cost.drain_cpu_ns = cpu_ns_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  for (const auto& track : tracks_) cost.spans += track->ring_.pushed();
  return cost;
}

double Recorder::Drain::drain_once() {
  {
    const std::lock_guard lock(mutex_);
    ++rounds_begun_;
    for (std::size_t i = drained_.size(); i < tracks_.size(); ++i) drained_.push_back(tracks_[i].get());
  }
  const double was_full = fullest();
  for (Track* track : drained_) {
    SpanRing& ring = track->ring_;
    // Twice: a ring that wraps lies in two pieces. Not until it is empty: other tracks wait.
    if (write_spans(ring)) write_spans(ring);
  }
  write_pending();
  write_dropped();
  return was_full;
}

bool Recorder::Drain::write_spans(SpanRing& ring) {
  std::span<const Span> ready = ring.front();
  if (ready.empty()) return false;
  // A name was interned before the span that uses it was pushed: written now, it precedes that span in the
  // file.
  write_pending();
  while (!ready.empty()) {
    const std::size_t count = std::min(ready.size(), kMaxSpansPerFrame);
    writer_.write_spans(ready.first(count));
    ring.discard(count);
    ready = ready.subspan(count);
  }
  return true;
}

void Recorder::Drain::write_pending() {
  if (!pending_.load(std::memory_order_acquire)) return;
  std::vector<std::string> names;
  std::vector<Scalar> scalars;
  {
    const std::lock_guard lock(mutex_);
    names.swap(new_names_);
    scalars.swap(new_scalars_);
    pending_.store(false, std::memory_order_relaxed);
  }
  writer_.write_names(names);
  writer_.write_scalars(scalars);
}

void Recorder::Drain::write_dropped() {
  const std::uint64_t total = dropped();
  if (total == written_dropped_) return;
  writer_.write_dropped(total);
  written_dropped_ = total;
}

std::optional<Error> Recorder::Drain::stop() {
  if (!thread_.joinable()) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  try {
    if (!failure_) {
      drain_once();
      writer_.write_end();
    }
    writer_.close();
  } catch (const Error& error) {
    if (!failure_) fail(error);
  }
  return failure_;
}

}  // namespace ddbench::host
