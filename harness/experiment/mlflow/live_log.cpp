#include "harness/experiment/mlflow/live_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "core/library_error/as_error.h"
#include "core/threads/signals_blocked.h"
#include "probes/nvml/gpu_monitor.h"

namespace ddbench::experiment {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenBatches = 1000ms;
constexpr auto kLongestPause = 30'000ms;
constexpr std::chrono::milliseconds kForARequest{5000};  // less than kLastWords: one is under way when the end comes
constexpr auto kAtTheEnd = 2000ms;  // a request's time, and the pause between tries
constexpr auto kForTheEnd = 4000ms;   // of the last words: for tags and status, if values take longer
constexpr double kMegabyte = 1e6;   // as MLflow's own system metrics have them

/// Of /proc/meminfo, what is not available.
std::optional<double> used_memory_bytes() {
  std::ifstream stream("/proc/meminfo");
  double total_kib = 0, available_kib = 0;
  std::string key, unit;
  for (double value = 0; stream >> key >> value;) {
    if (key == "MemTotal:") total_kib = value;
    if (key == "MemAvailable:") available_kib = value;
    std::getline(stream, unit);
  }
  if (total_kib <= 0 || available_kib <= 0) return std::nullopt;
  return (total_kib - available_kib) * 1024;
}

}  // namespace

LiveLog::LiveLog(TrackingSettings settings, LoggedRun run, MakeClient make_client)
    : settings_(std::move(settings)), run_(std::move(run)), make_client_(std::move(make_client)) {}

LiveLog::~LiveLog() {
  if (thread_.joinable()) finish({.status = "FAILED", .end_ms = wall_ns() / 1'000'000, .tags = {}, .metrics = {}});
}

void LiveLog::start() {
  if (thread_.joinable() || refused_) return;
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error& error) {  // no more threads: the run goes on
    const std::lock_guard lock(mutex_);
    problem_ = error.what();
    refused_ = true;
  }
}

void LiveLog::add(TrackedMetric metric) {
  if (!std::isfinite(metric.value)) return;
  const std::lock_guard lock(mutex_);
  if (refused_) {
    ++dropped_;
    return;
  }
  waiting_.push_back(std::move(metric));
  if (waiting_.size() <= kMostKept) return;
  waiting_.pop_front();
  ++dropped_;
}

std::string LiveLog::finish(LoggedEnd end) {
  start();
  for (TrackedMetric& metric : end.metrics) add(std::move(metric));
  {
    const std::lock_guard lock(mutex_);
    last_words_at_ = Clock::now() + kLastWords;
    end_ = std::move(end);
  }
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
  return outcome();
}

std::string LiveLog::outcome() const {
  const std::size_t left = waiting_.size() + dropped_;
  const std::string where = tracking_ && tracking_->is_created() ? fmt::format("run {} at {}", tracking_->run_id(), settings_.uri) : settings_.uri;
  if (problem_.empty() && left == 0) return fmt::format("MLflow: {}: {} values", where, sent_);
  return fmt::format("MLflow: {}: {} values were logged and {} were not: {}", where, sent_, left,
                     problem_.empty() ? "there was no room or time for more; `ddbench report --format mlflow` writes all" : problem_);
}

std::chrono::milliseconds LiveLog::time_for_a_request() const {
  const std::lock_guard lock(mutex_);
  if (!end_) return kForARequest;
  return std::min<std::chrono::milliseconds>(kAtTheEnd, std::chrono::duration_cast<std::chrono::milliseconds>(last_words_at_ - Clock::now()));
}

void LiveLog::connect() {
  if (!tracking_) tracking_.emplace(settings_, make_client_(), [this] { return time_for_a_request(); });
  if (!tracking_->is_created()) tracking_->create(run_.name, run_.start_ms);
  if (!params_are_sent_) tracking_->log(run_.params, {});
  params_are_sent_ = true;
}

/// Sends one batch, or the end when nothing else is left. False: nothing is left at all.
bool LiveLog::send_some() {
  std::vector<TrackedMetric> batch;
  std::optional<LoggedEnd> end;
  {
    const std::lock_guard lock(mutex_);
    const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), TrackingRun::kMostMetrics));
    batch.assign(waiting_.begin(), waiting_.begin() + count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    const bool is_late = end_ && !end_is_sent_ && Clock::now() + kForTheEnd >= last_words_at_;
    if (is_late) {
      waiting_.insert(waiting_.begin(), batch.begin(), batch.end());
      batch.clear();
    }
    if (batch.empty()) end = end_;
  }
  try {
    connect();
    if (!batch.empty()) tracking_->log(batch);
    if (end && !end_is_sent_) {
      tracking_->log({}, end->tags);
      tracking_->end(end->status, end->end_ms);
      end_is_sent_ = true;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.begin(), batch.begin(), batch.end());
    throw;
  }
  const std::lock_guard lock(mutex_);
  sent_ += batch.size();
  return !waiting_.empty() || (end_ && !end_is_sent_);
}

/// Under the names of MLflow's own system metrics, of the machine of this process.
void LiveLog::sample_machine(cuda::GpuSource* gpus) {
  const std::int64_t time_ms = wall_ns() / 1'000'000;
  const std::int64_t step = samples_++;
  const auto note = [&](const std::string& name, double value) { add({"system/" + name, value, time_ms, step}); };
  if (const auto used = used_memory_bytes()) note("system_memory_usage_megabytes", *used / kMegabyte);
  if (gpus == nullptr) return;
  int number = 0;
  for (const cuda::GpuSample& gpu : gpus->read()) {
    if (gpu.utilisation) note(fmt::format("gpu_{}_utilization_percentage", number), *gpu.utilisation * 100);
    if (gpu.used_memory_bytes) note(fmt::format("gpu_{}_memory_usage_megabytes", number), *gpu.used_memory_bytes / kMegabyte);
    if (gpu.power_w) note(fmt::format("gpu_{}_power_usage_watts", number), *gpu.power_w);
    ++number;
  }
}

void LiveLog::work() {
  std::string no_gpus;
  const std::unique_ptr<cuda::GpuSource> gpus = cuda::open_nvml(no_gpus);
  std::chrono::milliseconds pause = kBetweenBatches;
  for (bool more = false;;) {
    bool ends = false;
    {
      std::unique_lock lock(mutex_);
      const bool ended_before = end_.has_value();
      if (!more) news_.wait_for(lock, ended_before ? std::min<Clock::duration>({pause, kAtTheEnd, last_words_at_ - Clock::now()}) : pause, [&] { return end_.has_value() && !ended_before; });
      ends = end_.has_value();
      if (ends && ended_before && Clock::now() >= last_words_at_) return;
    }
    const bool was_away = !problem_.empty();
    try {
      if (!ends && !more) sample_machine(gpus.get());
      more = send_some();
      const std::lock_guard lock(mutex_);
      problem_.clear();
      pause = kBetweenBatches;
      if (ends && !more) return;
    } catch (const TrackingRefused& refusal) {
      const std::lock_guard lock(mutex_);
      problem_ = refusal.reason;
      refused_ = true;
      return;
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      problem_ = as_error(error).message();
      more = false;
      pause = std::min<std::chrono::milliseconds>(pause * 2, kLongestPause);
      if (ends && (was_away || !tracking_ || !tracking_->is_created())) return;
    }
  }
}

}  // namespace ddbench::experiment
