#include "harness/experiment/mlflow/logging_observer.h"

#include <algorithm>

#include "core/clock.h"
#include "core/run_case/learning_rate.h"
#include "core/run_case/program_case.h"

namespace ddbench::experiment {
namespace {

constexpr std::uint32_t kMostRates = 200;  // at a time

}  // namespace

void LoggingObserver::on_start(const store::RunRecord& run) {
  run_case_ = run.run_case;
  log_ = make_log_(run);
  next_.on_start(run);
}

void LoggingObserver::on_progress(const LiveProgress& progress) {
  last_ = progress;
  next_.on_progress(progress);
}

/// Of all steps since the last time; of many, evenly chosen ones and the newest. The others follow when the run has ended.
void LoggingObserver::log_rates(std::int64_t time_ms) {
  if (!is_reference(run_case_) || last_.steps_done == 0) return;
  const std::uint32_t first = rates_.empty() ? 0 : *rates_.rbegin() + 1;
  const std::uint32_t newest = last_.steps_done - 1;
  const std::uint32_t stride = 1 + (newest < first ? 0 : newest - first) / kMostRates;
  for (std::uint32_t step = first; step <= newest; step = step == newest ? newest + 1 : std::min(step + stride, newest)) {
    log_->add({"learning_rate", learning_rate(run_case_, step), time_ms, step});
    rates_.insert(step);
  }
}

void LoggingObserver::on_status(const LiveStatus& status) {
  next_.on_status(status);
  if (log_ == nullptr) return;
  log_->start();
  if (last_.steps_done == 0) return;
  const std::int64_t time_ms = wall_ns() / 1'000'000;
  const auto add = [&](const char* key, double value) { log_->add({key, value, time_ms, last_.steps_done}); };
  if (is_reference(run_case_)) add("live.loss", last_.loss);
  if (status.steps_per_s) {
    add("live.steps_per_s", *status.steps_per_s);
    if (has_known_batch(run_case_)) add("live.samples_per_s", *status.steps_per_s * static_cast<double>(run_case_.global_batch()));
  }
  if (status.communication_share) add("live.communication_share", *status.communication_share);
  log_rates(time_ms);
}

}  // namespace ddbench::experiment
